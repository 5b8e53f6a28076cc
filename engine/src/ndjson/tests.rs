//! Framing, whatever the pieces.

use super::*;
use proptest::prelude::*;

/// An [`Item`] that lives on.
#[derive(Debug, Clone, PartialEq)]
enum Owned {
    Line(String, bool, bool),
    Oversize(String, usize),
}

fn own(item: Item<'_>) -> Owned {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    match item {
        Item::Line { bytes, bom, terminated } => Owned::Line(text(bytes), bom, terminated),
        Item::Oversize { head, bytes } => Owned::Oversize(text(head), bytes),
    }
}

fn frame<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut framer = Framer::new(limit);
    let mut items = Vec::new();
    for piece in pieces {
        framer.feed(piece);
        while let Some(item) = framer.next_line() {
            items.push(own(item));
        }
    }
    items.extend(framer.finish().map(own));
    assert_eq!(framer.finish(), None);
    items
}

fn line(text: &str) -> Owned {
    Owned::Line(text.into(), false, true)
}

/// The same by the book: split the whole, then judge each line.
fn by_the_book(limit: usize, bytes: &[u8]) -> Vec<Owned> {
    let (marked, bytes) = bytes.strip_prefix(BOM).map_or((false, bytes), |rest| (true, rest));
    let mut items = Vec::new();
    for (index, piece) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let terminated = piece.ends_with(b"\n");
        let piece = piece.strip_suffix(b"\n").map_or(piece, |line| line.strip_suffix(b"\r").unwrap_or(line));
        items.push(own(if piece.len() > limit {
            Item::Oversize { head: &piece[..limit.min(HEAD)], bytes: piece.len() }
        } else {
            Item::Line { bytes: piece, bom: marked && index == 0, terminated }
        }));
    }
    if marked && items.is_empty() {
        items.push(Owned::Line(String::new(), true, false));
    }
    items
}

#[test]
fn lines_lose_their_ends_only() {
    assert_eq!(
        frame(99, [&b"a\nb\r\n\n \r\r\nlast\r"[..]]),
        [line("a"), line("b"), line(""), line(" \\r"), Owned::Line("last\\r".into(), false, false)]
    );
    assert_eq!(frame(99, [&b""[..]]), []);
}

#[test]
fn a_byte_order_mark_counts_at_the_start_only() {
    let items = frame(99, [&b"\xEF"[..], b"\xBB", b"\xBFa\n\xEF\xBB\xBFb\n"]);
    assert_eq!(items, [Owned::Line("a".into(), true, true), line("\\xef\\xbb\\xbfb")]);
}

#[test]
fn a_line_past_the_limit_costs_only_itself() {
    let long = [&b"x".repeat(5000)[..], b"\r\nnext\n"].concat();
    let expected = [Owned::Oversize("x".repeat(HEAD), 5000), line("next")];
    assert_eq!(frame(2000, [&long[..]]), expected);
    assert_eq!(frame(2000, long.chunks(7)), expected);
    assert_eq!(frame(4999, long.chunks(1)), expected);
    assert_eq!(frame(5000, long.chunks(1)), [line(&"x".repeat(5000)), line("next")]);
}

#[test]
fn an_endless_line_does_not_grow_the_buffer() {
    let mut framer = Framer::new(100_000);
    for _ in 0..1000 {
        framer.feed(&[b'x'; 50_000]);
        assert_eq!(framer.next_line(), None);
        assert!(framer.buffer.len() <= 4 * CHUNK, "{}", framer.buffer.len());
    }
    framer.feed(b"\n");
    assert_eq!(framer.next_line().map(own), Some(Owned::Oversize("x".repeat(HEAD), 50_000_000)));
}

#[test]
fn a_big_line_in_small_pieces_is_looked_at_once() {
    let big = b"y".repeat(20 * 1024 * 1024);
    let mut framer = Framer::new(usize::MAX);
    for piece in big.chunks(512) {
        framer.feed(piece);
        assert_eq!(framer.next_line(), None);
        assert_eq!(framer.scanned, framer.end);
    }
    framer.feed(b"\n");
    assert!(matches!(framer.next_line(), Some(Item::Line { bytes, .. }) if bytes == big));
    assert!(framer.space().len() >= CHUNK / 2);
    assert_eq!(framer.buffer.len(), CHUNK);
}

proptest! {
    #[test]
    fn any_pieces_give_the_same_lines(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(0xEF), Just(0xBB), Just(0xBF), Just(b'a'), any::<u8>(),
        ], 0..200),
        marked: bool,
        cuts: Vec<prop::sample::Index>,
        limit in prop_oneof![0..12_usize, Just(usize::MAX)],
    ) {
        let bytes = if marked { [BOM, &bytes].concat() } else { bytes };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let expected = by_the_book(limit, &bytes);
        prop_assert_eq!(frame(limit, cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]])), expected.clone());
        prop_assert_eq!(frame(limit, bytes.chunks(1)), expected.clone());
        prop_assert_eq!(frame(limit, [&bytes[..]]), expected);
    }

    #[test]
    fn large_streams_too(lengths in prop::collection::vec(0..150_000_usize, 1..12), piece in 1..100_000_usize) {
        let stream: Vec<u8> = lengths.iter().flat_map(|length| [&b"z".repeat(*length)[..], b"\n"].concat()).collect();
        let found: Vec<usize> = frame(usize::MAX, stream.chunks(piece)).iter().map(|item| match item {
            Owned::Line(text, ..) => text.len(),
            Owned::Oversize(..) => usize::MAX,
        }).collect();
        prop_assert_eq!(found, lengths);
    }
}
