use super::*;
use crate::source::Json;
use proptest::prelude::*;
use serde_json::json;

fn parsed(name: &str, text: &str) -> (Option<Node>, Vec<String>) {
    let source = Source::new(name, name, text.to_owned());
    let mut diagnostics = Diagnostics::default();
    let node = parse(&source, &mut diagnostics);
    (node, diagnostics.list.into_iter().map(|diagnostic| diagnostic.message).collect())
}

fn tree(text: &str) -> Json {
    let (node, problems) = parsed("a.yml", text);
    assert_eq!(problems, Vec::<String>::new(), "{text}");
    node.expect("a tree").to_json()
}

fn problem(text: &str) -> String {
    let (_, problems) = parsed("a.yml", text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.into_iter().next().expect("a problem")
}

#[test]
fn values_keep_their_types_and_order() {
    let text = "b: [no, 012, 1_000, 18446744073709551615, 1.5, ~, TRUE, '5']\na: {x: !!str 5, y: ! 6}\n";
    let expected = json!({"b": ["no", 12, "1_000", u64::MAX, 1.5, null, true, "5"], "a": {"x": "5", "y": "6"}});
    assert_eq!(tree(text), expected);
    assert_eq!(tree(text).to_string(), expected.to_string());
}

#[test]
fn spans_are_bytes_of_the_text() {
    let text = "ä: 'é'\nlist:\n  - {k: v}\n  - |\n    two\n    lines\nlast:\nnone: x";
    let source = Source::new("a.yml", "a.yml", text.to_owned());
    let node = parse(&source, &mut Diagnostics::default()).expect("a tree");
    let entries = node.entries().expect("a mapping");
    assert_eq!(source.slice(entries[0].key_span), "ä");
    assert_eq!(source.slice(entries[0].value.span), "'é'");
    let items = entries[1].value.items().expect("a list");
    assert_eq!(source.slice(items[0].span), "{k: v}");
    assert_eq!(source.slice(items[1].span), "two\n    lines");
    assert_eq!(source.slice(entries[1].value.span), "- {k: v}\n  - |\n    two\n    lines");
    assert_eq!(source.slice(entries[2].value.span), "last", "a missing value stands at its key");
    assert_eq!(source.slice(node.span), text);
}

#[test]
fn a_duplicate_key_names_both_places() {
    for many in [0, 50] {
        let filler: String = (0..many).map(|n| format!("k{n}: 1\n")).collect();
        let source = Source::new("a.yml", "a.yml", format!("a: 1\n{filler}a: 2\n"));
        let mut diagnostics = Diagnostics::default();
        let node = parse(&source, &mut diagnostics).expect("a tree");
        assert_eq!(node.get("a").map(Node::to_json), Some(json!(1)));
        let [found] = &diagnostics.list[..] else { panic!("{diagnostics:?}") };
        assert_eq!(found.message, "duplicate key `a`");
        assert_eq!(found.also[0].0, Span::new(0, 1));
    }
}

#[test]
fn aliases_are_expanded_and_merge_keys_are_merged() {
    let text = "base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: {<<: [{y: 4, z: 5}, *b]}\nthree: *b\nfour: {'<<': 1}";
    let tree = tree(text);
    assert_eq!(tree["one"], json!({"y": 3, "x": 1}));
    assert_eq!(tree["two"], json!({"y": 4, "z": 5, "x": 1}));
    assert_eq!(tree["three"], json!({"x": 1, "y": 2}));
    assert_eq!(tree["four"], json!({"<<": 1}));
    assert_eq!(problem("a: {<<: 1}"), "`<<` merges a mapping or a list of mappings, found a number");
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(problem(&text).starts_with("aliases expand to more than"), "{}", problem(&text));
    assert_eq!(problem("a: &a [1, *a]"), "`*a` is used inside the value it names");
}

#[test]
fn nesting_has_a_limit() {
    let deep = |open: &str| problem(&open.repeat(20_000));
    assert_eq!(deep("["), "nested more than 200 levels deep");
    assert_eq!(deep("{a: "), "nested more than 200 levels deep");
    assert_eq!(deep("- "), "nested more than 200 levels deep");
    assert_eq!(deep("? "), "nested more than 200 levels deep");
    let (_, problems) = parsed("a.json", &"[".repeat(20_000));
    assert_eq!(problems, ["not valid JSON: nested more than 200 levels deep"]);
    let fits = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(parsed("a.yml", &fits).0.is_some() && parsed("a.json", &fits).0.is_some());
    let mut chain = "a0: &a0 [x]\n".to_owned();
    (1..300).for_each(|level| chain.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1)));
    assert_eq!(problem(&chain), "nested more than 200 levels deep");
}

#[test]
fn one_document_with_something_in_it() {
    assert_eq!(problem("a: 1\n---\nb: 2\n"), "a file holds one document, and a second one begins here");
    assert_eq!(problem(" \n"), "`a.yml` is empty");
    assert_eq!(problem("# only a comment\n"), "`a.yml` holds nothing but comments");
    assert_eq!(problem("---\n"), "`a.yml` holds no value");
    assert_eq!(tree("%YAML 1.2\n---\na: 1\n...\n"), json!({"a": 1}));
}

#[test]
fn line_ends_of_either_kind_give_the_same_tree() {
    let text = "a:\n  - |\n    x\n    y\n  - \"p\n    q\"\nb: ä\n";
    assert_eq!(tree(&text.replace('\n', "\r\n")), tree(text));
    let crlf = Source::new("a.yml", "a.yml", "a: 1\r\nb: ü\r\nc: [\r\n 1]\r\n".into());
    let node = parse(&crlf, &mut Diagnostics::default()).expect("a tree");
    assert_eq!(crlf.slice(node.entries().expect("a mapping")[2].value.span), "[\r\n 1]");
}

#[test]
fn what_would_be_ambiguous_is_refused() {
    assert_eq!(problem("? [a]\n: 1\n"), "a key must be text, found a list");
    assert_eq!(problem("a: {{x}}\n"), "a key must be text, found a mapping");
    assert_eq!(problem("a: !env X\n"), "unknown tag `!env`");
    assert_eq!(problem("a: !!binary aGk=\n"), "unknown tag `!!binary`");
    assert_eq!(problem("a: !!set {x}\n"), "unknown tag `!!set`");
    assert_eq!(problem("a: !!int x\n"), "`x` is not a number");
    assert_eq!(problem("a: 123456789012345678901\n"), "`123456789012345678901` does not fit in 64 bits");
    assert_eq!(tree("1: a\ntrue: b\n"), json!({"1": "a", "true": "b"}));
}

#[test]
fn pasted_json_may_have_surrogate_pairs() {
    let text = r#"ä: "\ud83d\ude00 \\ud83d\ude01 \U0001F600"
plain: \ud83d\ude00 \U0001F600
single: '\ud83d\ude00 \uD83D\uDE00'
block: |
  \ud83d\ude02
"\ud83d\ude03": { last: value }
"#;
    let source = Source::new("a.yml", "a.yml", text.to_owned());
    let mut diagnostics = Diagnostics::default();
    assert!(parse(&source, &mut diagnostics).is_none() && diagnostics.list.len() == 1, "\\ude01 has no other half");
    let text = text.replace(r"\ude01", "");
    let expected = json!({
        "ä": r"😀 \ud83d 😀",
        "plain": r"\ud83d\ude00 \U0001F600",
        "single": r"\ud83d\ude00 \uD83D\uDE00",
        "block": "\\ud83d\\ude02\n",
        "😃": {"last": "value"},
    });
    assert_eq!(tree(&text), expected);
    let source = Source::new("a.yml", "a.yml", text);
    let node = parse(&source, &mut Diagnostics::default()).expect("a tree");
    let last = node.get("😃").and_then(|last| last.get("last")).expect("the last value");
    assert_eq!(source.slice(last.span), "value");
    assert_eq!(source.slice(node.entries().expect("a mapping")[2].value.span), r"'\ud83d\ude00 \uD83D\uDE00'");
}

#[test]
fn json_files_may_have_tabs_and_surrogate_pairs() {
    let (node, problems) = parsed(
        "a.json",
        "{\n\t\"a\":\t\"\\ud83d\\ude00\\n\\/\",\n\t\"b\": [1, -2.5e3, 18446744073709551615, null]\n}\n",
    );
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(node.map(|node| node.to_json()), Some(json!({"a": "😀\n/", "b": [1, -2500.0, u64::MAX, null]})));
    let flow = "{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n";
    assert_eq!(tree(flow), json!({"a": [1, 2]}), "tabs in flow style");
}

#[test]
fn json_problems_have_words() {
    let cases = [
        ("{\"a\": 1,}", "not valid JSON: a comma with nothing after it"),
        ("{a: 1}", "not valid JSON: expected a key in double quotes"),
        ("{\"a\" 1}", "not valid JSON: expected `:` after the key"),
        ("[1 2]", "not valid JSON: expected `,` or `]`"),
        ("{} x", "not valid JSON: text after the end of the value"),
        ("// no", "not valid JSON: expected a value"),
        ("\"abc", "not valid JSON: this text is never closed"),
        ("\"\\ud83d\"", "not valid JSON: this escape is no character"),
        ("\"\\x\"", "not valid JSON: unknown escape"),
        ("[01]", "not valid JSON: not a number"),
        ("1e400", "not valid JSON: not a number"),
        ("123456789012345678901", "`123456789012345678901` does not fit in 64 bits"),
        ("{\"a\":1,\"a\":2}", "duplicate key `a`"),
        ("", "`a.json` is empty"),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed("a.json", text).1, [expected], "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*|[-{}\\[\\]:,&*!|>'\"%#? \\n\\t\\r\\\\ua0<äx~.]{0,60}") {
        for name in ["a.yml", "a.json"] {
            let source = Source::new(name, name, text.clone());
            let mut diagnostics = Diagnostics::default();
            let node = parse(&source, &mut diagnostics);
            prop_assert!(node.is_some() || diagnostics.has_errors());
            diagnostics.render(false);
        }
    }

    #[test]
    fn json_written_is_json_read(value in json_value()) {
        let text = value.to_string();
        for name in ["a.yml", "a.json"] {
            let (node, problems) = parsed(name, &text);
            prop_assert_eq!(&problems, &Vec::<String>::new());
            prop_assert_eq!(node.map(|node| node.to_json()), Some(value.clone()));
        }
    }
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        "[ -~äß語]{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::hash_map("[a-z ]{1,8}", inner, 0..6)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}
