//! Components that describe themselves wrongly, field by field, and such as never return.

use crate::guests::cache;
use crate::kit::{Place, Said};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Bytes that are no UTF-8.
const GARBAGE: &[u8] = &[0xff, 0xfe, 0x80];

/// What a component says of itself, as bytes.
#[derive(Clone, Copy)]
struct Manifest<'a> {
    id: &'a [u8],
    version: &'a [u8],
    name: &'a [u8],
    summary: &'a [u8],
    schema: &'a [u8],
    capability: &'a [u8],
}

const GOOD: Manifest<'_> =
    Manifest { id: b"odd", version: b"1.0.0", name: b"odd", summary: b"", schema: b"{}", capability: b"clock" };

/// Every value has a place of this many bytes.
const ROOM: u32 = 64;

impl Manifest<'_> {
    /// A core module of the `matcher` world that says this; its other functions are these instructions.
    fn module(&self, check: &str, evaluate: &str) -> Vec<u8> {
        let mut data = String::new();
        let mut put = |at: u32, bytes: &[u8]| {
            let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
            let _ = writeln!(data, "(data (i32.const {at}) \"{escaped}\")");
            [at, u32::try_from(bytes.len()).expect("it is short")]
        };
        let mut text = |nth: u32, bytes: &[u8]| put(1024 + nth * ROOM, bytes);
        let (id, version, name) = (text(0, self.id), text(1, self.version), text(2, self.name));
        let (summary, schema) = (text(3, self.summary), text(4, self.schema));
        let capability = text(5, self.capability);
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (matchers, capabilities) = ([128, 1], [192, u32::from(!self.capability.is_empty())]);
        put(64, &bytes(&[id, version, matchers, capabilities].concat()));
        put(128, &bytes(&[&name[..], &summary, &[1], &schema].concat()));
        put(192, &bytes(&capability));
        let package = "mcptest:extension";
        let text = format!(
            "(module
              (memory (export \"memory\") 64) {data}
              (global $free (mut i32) (i32.const 4096))
              (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32)
                (global.set $free (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
                (global.get $free)
                (global.set $free (i32.add (global.get $free) (local.get 3))))
              (func (export \"{package}/describing@0.1.0#describe\") (result i32) (i32.const 64))
              (func (export \"{package}/matching@0.1.0#check\") (param i32 i32 i32 i32) (result i32) {check})
              (func (export \"{package}/matching@0.1.0#evaluate\")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) {evaluate}))"
        );
        wat::parse_str(text).expect("a module")
    }
}

/// Builds a component of the module, and runs a command on it.
fn built(place: &Place, module: &[u8], command: &str) -> Said {
    std::fs::write(place.path("core.wasm"), module).expect("a file");
    let said = place.mcptest(&["extension", "build", "core.wasm", "--world", "matcher", "-o", "odd.wasm"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let mut command = place.command(&["extension", command, "odd.wasm"]);
    crate::kit::said(command.env("MCPTEST_CACHE_DIR", cache()).output().expect("the binary runs"))
}

#[test]
fn every_field_of_a_manifest_is_looked_at() {
    let place = Place::new();
    let inspect = |manifest: &Manifest<'_>| built(&place, &manifest.module("unreachable", "unreachable"), "inspect");
    let good = inspect(&GOOD);
    assert!(good.code == 0 && good.stdout.contains("odd 1.0.0"), "{}{}", good.stdout, good.stderr);
    let garbage = [
        Manifest { id: GARBAGE, ..GOOD },
        Manifest { version: GARBAGE, ..GOOD },
        Manifest { name: GARBAGE, ..GOOD },
        Manifest { summary: GARBAGE, ..GOOD },
        Manifest { schema: GARBAGE, ..GOOD },
        Manifest { capability: GARBAGE, ..GOOD },
    ];
    let wrong = [
        (Manifest { id: "o\u{202e}d".as_bytes(), ..GOOD }, r"has the id `o\u{202e}d`"),
        (Manifest { version: "1\u{202e}0".as_bytes(), ..GOOD }, r"has the version `1\u{202e}0`"),
        (Manifest { version: "1\u{200b}0".as_bytes(), ..GOOD }, r"has the version `1\u{200b}0`"),
        (Manifest { name: b"o d", ..GOOD }, "has a matcher named `o d`"),
        (Manifest { schema: b"{", ..GOOD }, "has an `argument-schema` of `odd` that is not JSON"),
        (Manifest { schema: b"", ..GOOD }, "has an `argument-schema` of `odd` that is not JSON"),
        (Manifest { capability: b"everything", ..GOOD }, "the unknown capability `everything`"),
    ];
    let garbage = garbage.iter().map(|manifest| (manifest, "malformed_response", "cannot be read"));
    let wrong = wrong.iter().map(|(manifest, words)| (manifest, "handshake_failed", *words));
    for (at, (manifest, code, words)) in garbage.chain(wrong).enumerate() {
        let said = inspect(manifest);
        assert_eq!(said.code, 4, "{at}: {}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains(words) && said.stderr.contains(code), "{at}: {}", said.stderr);
    }
    let said = inspect(&Manifest { summary: "a\u{1b}[2J\u{202e}b".as_bytes(), ..GOOD });
    assert!(said.code == 0 && !said.stdout.contains(['\u{1b}', '\u{202e}']), "{}{}", said.stdout, said.stderr);
}

/// Every value would cost its time again.
#[test]
fn authors_are_told_soon_of_what_never_returns() {
    let place = Place::new();
    let (fine, loops) = ("(i32.const 512)", "(loop $again (br $again)) unreachable");
    let plain = Manifest { capability: b"", ..GOOD };
    for (check, evaluate) in [(fine, loops), (loops, fine)] {
        let began = Instant::now();
        let said = built(&place, &plain.module(check, evaluate), "check");
        assert_eq!(said.code, 1, "{}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains("within 1s") && !said.stdout.contains("more like these"), "{}", said.stdout);
        assert!(began.elapsed() < Duration::from_secs(60), "it took {:?}", began.elapsed());
    }
}
