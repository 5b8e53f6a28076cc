//! URI templates as in RFC 6570, all four levels: `demo://greeting/{name}`, `file:///{+path}`, `x://list{?q,limit}`.

use crate::source::Json;

/// How the values of an expression are joined.
struct Operator {
    sign: Option<char>,
    first: &'static str,
    separator: &'static str,
    /// Values are preceded by their names.
    named: bool,
    /// What follows the name of an empty value.
    if_empty: &'static str,
    /// Reserved characters stay as they are.
    reserved: bool,
}

const fn operator(
    sign: Option<char>,
    first: &'static str,
    separator: &'static str,
    named: bool,
    if_empty: &'static str,
    reserved: bool,
) -> Operator {
    Operator { sign, first, separator, named, if_empty, reserved }
}

const PLAIN: Operator = operator(None, "", ",", false, "", false);
const OPERATORS: [Operator; 7] = [
    operator(Some('+'), "", ",", false, "", true),
    operator(Some('#'), "#", ",", false, "", true),
    operator(Some('.'), ".", ".", false, "", false),
    operator(Some('/'), "/", "/", false, "", false),
    operator(Some(';'), ";", ";", true, "", false),
    operator(Some('?'), "?", "&", true, "=", false),
    operator(Some('&'), "&", "&", true, "=", false),
];

/// Expands a template with the values of an object; a variable without a value is left out.
pub fn expand(template: &str, values: &Json) -> String {
    let mut out = String::new();
    for part in parts(template) {
        match part {
            Part::Text(text) => out.push_str(&encode(text, true)),
            Part::Expression { operator, variables } => {
                let found: Vec<String> =
                    variables.iter().filter_map(|variable| variable.expand(values, operator)).collect();
                if !found.is_empty() {
                    out.push_str(operator.first);
                    out.push_str(&found.join(operator.separator));
                }
            }
        }
    }
    out
}

/// The names of a template's variables, in order, each once.
pub fn variables(template: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for part in parts(template) {
        let Part::Expression { variables, .. } = part else { continue };
        for variable in variables {
            if !names.contains(&variable.name) {
                names.push(variable.name);
            }
        }
    }
    names
}

enum Part<'a> {
    Text(&'a str),
    Expression { operator: &'static Operator, variables: Vec<Variable<'a>> },
}

struct Variable<'a> {
    name: &'a str,
    explode: bool,
    prefix: Option<usize>,
}

/// The parts of a template; a brace that is never closed is text.
fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|close| open + close) else { break };
        parts.push(Part::Text(&rest[..open]));
        let inside = &rest[open + 1..close];
        let operator = OPERATORS.iter().find(|operator| operator.sign == inside.chars().next());
        let names = if operator.is_some() { &inside[1..] } else { inside };
        let variables = names.split(',').map(Variable::parse).collect();
        parts.push(Part::Expression { operator: operator.unwrap_or(&PLAIN), variables });
        rest = &rest[close + 1..];
    }
    parts.push(Part::Text(rest));
    parts
}

impl<'a> Variable<'a> {
    fn parse(text: &'a str) -> Variable<'a> {
        if let Some(name) = text.strip_suffix('*') {
            return Variable { name, explode: true, prefix: None };
        }
        match text.split_once(':') {
            Some((name, length)) => Variable { name, explode: false, prefix: length.parse().ok() },
            None => Variable { name: text, explode: false, prefix: None },
        }
    }

    fn expand(&self, values: &Json, operator: &Operator) -> Option<String> {
        let encode = |text: &str| encode(text, operator.reserved);
        let named = |name: &str, value: String| match (operator.named, value.is_empty()) {
            (false, _) => value,
            (true, true) => format!("{}{}", encode(name), operator.if_empty),
            (true, false) => format!("{}={value}", encode(name)),
        };
        match values.get(self.name)? {
            Json::Null => None,
            Json::Array(items) if items.is_empty() => None,
            Json::Object(members) if members.is_empty() => None,
            Json::Array(items) => {
                let items = items.iter().map(|item| encode(&plain(item)));
                Some(match self.explode {
                    true => items.map(|item| named(self.name, item)).collect::<Vec<_>>().join(operator.separator),
                    false => named(self.name, items.collect::<Vec<_>>().join(",")),
                })
            }
            Json::Object(members) => {
                let pairs = members.iter().map(|(key, value)| (encode(key), encode(&plain(value))));
                Some(match self.explode {
                    true => {
                        pairs.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(operator.separator)
                    }
                    false => {
                        let pairs = pairs.map(|(key, value)| format!("{key},{value}")).collect::<Vec<_>>().join(",");
                        named(self.name, pairs)
                    }
                })
            }
            value => {
                let text = plain(value);
                let text: String = text.chars().take(self.prefix.unwrap_or(usize::MAX)).collect();
                Some(named(self.name, encode(&text)))
            }
        }
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Percent-encodes what is not unreserved, or, when `reserved`, what is no character of a URI at all.
fn encode(text: &str, reserved: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
        let triplet = *byte == b'%' && hex(at + 1) && hex(at + 2);
        let stays = byte.is_ascii_alphanumeric()
            || b"-._~".contains(byte)
            || (reserved && (triplet || b":/?#[]@!$&'()*+,;=".contains(byte)));
        match stays {
            true => out.push(char::from(*byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Examples of the RFC's third section.
    #[test]
    fn templates_expand_as_the_rfc_says() {
        let values = json!({
            "var": "value", "hello": "Hello World!", "path": "/foo/bar", "empty": "", "x": "1024", "y": "768",
            "list": ["red", "green", "blue"], "keys": {"semi": ";", "dot": ".", "comma": ","}, "n": 3,
        });
        let table = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{+hello}", "Hello%20World!"),
            ("{+path}/here", "/foo/bar/here"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("X{.x,y}", "X.1024.768"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{var:3}", "val"),
            ("{list}", "red,green,blue"),
            ("{/list*}", "/red/green/blue"),
            ("{?list*}", "?list=red&list=green&list=blue"),
            ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
            ("{+keys}", "semi,;,dot,.,comma,,"),
            ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
            ("{undef}{?undef}", ""),
            ("demo://a/{n}", "demo://a/3"),
            ("{unclosed", "%7Bunclosed"),
        ];
        for (template, expanded) in table {
            assert_eq!(expand(template, &values), expanded, "{template}");
        }
        assert_eq!(variables("a://{x}/{?y,z*}{+x:3}"), ["x", "y", "z"]);
    }
}
