//! Server-sent events, as they come in chunks of any size.
//!
//! ```text
//! : a comment          Item::Comment
//! id: 7                ┐
//! event: message       │ Item::Event, at the empty line
//! data: {"jsonrpc":…}  ┘
//! data: {"js           Item::Event with `truncated`, when the stream ends here
//! ```
//!
//! Nothing is dropped silently: comments, ids, events without data and an event that the end of the stream cut short are
//! all handed on. An event past the limit is handed on as its beginning and its length.

use memchr::memchr2;

/// How much of an event that is too long is kept.
const HEAD: usize = 200;

/// Something of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// An event.
    Event(Event),
    /// A line that begins with a colon, without it.
    Comment(String),
    /// An event past the limit.
    Oversize {
        /// The beginning of its data.
        head: String,
        /// Its length in bytes.
        bytes: usize,
    },
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// `event:`.
    pub name: Option<String>,
    /// The `data:` lines, joined by newlines; `None` without one.
    pub data: Option<String>,
    /// `id:`.
    pub id: Option<String>,
    /// `retry:`, in milliseconds.
    pub retry: Option<u64>,
    /// The stream ended in the middle of it.
    pub truncated: bool,
}

/// Reads a stream.
#[derive(Debug)]
pub struct Parser {
    max: usize,
    line: Vec<u8>,
    /// How long the line is, kept or not.
    line_bytes: usize,
    after_cr: bool,
    begun: bool,
    event: Event,
    data: Vec<u8>,
    has_data: bool,
    /// How long the event is so far.
    bytes: usize,
    oversize: bool,
}

impl Parser {
    /// A parser for events of `max` bytes at most.
    pub fn new(max: usize) -> Parser {
        Parser {
            max,
            line: Vec::new(),
            line_bytes: 0,
            after_cr: false,
            begun: false,
            event: Event::default(),
            data: Vec::new(),
            has_data: false,
            bytes: 0,
            oversize: false,
        }
    }

    /// Takes in what came.
    pub fn push(&mut self, mut chunk: &[u8], out: &mut impl FnMut(Item)) {
        let Some(first) = chunk.first() else { return };
        if std::mem::take(&mut self.after_cr) && *first == b'\n' {
            chunk = &chunk[1..];
        }
        while let Some(end) = memchr2(b'\r', b'\n', chunk) {
            self.take(&chunk[..end]);
            self.end_of_line(out);
            let crlf = chunk[end] == b'\r' && chunk.get(end + 1) == Some(&b'\n');
            self.after_cr = chunk[end] == b'\r' && end + 1 == chunk.len();
            chunk = &chunk[end + 1 + usize::from(crlf)..];
        }
        self.take(chunk);
    }

    /// The stream has ended.
    pub fn finish(&mut self, out: &mut impl FnMut(Item)) {
        if !self.line.is_empty() {
            self.end_of_line(out);
        }
        if self.oversize || self.has_data || self.event != Event::default() {
            self.event.truncated = true;
            self.end_of_event(out);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.line_bytes += bytes.len();
        self.oversize |= self.bytes > self.max;
        let room = if self.oversize { HEAD.saturating_sub(self.line.len()) } else { bytes.len() };
        self.line.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn end_of_line(&mut self, out: &mut impl FnMut(Item)) {
        let mut line = std::mem::take(&mut self.line);
        let line_bytes = std::mem::take(&mut self.line_bytes);
        if self.oversize {
            line.truncate(HEAD);
        }
        if !self.begun {
            self.begun = true;
            if line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
        }
        if line.is_empty() {
            self.end_of_event(out);
        } else if line[0] == b':' {
            // A comment is no part of an event, however long the stream of them gets.
            self.bytes -= line_bytes;
            self.oversize = self.bytes > self.max;
            let text = &line[1..];
            out(Item::Comment(lossy(text.strip_prefix(b" ").unwrap_or(text))));
        } else {
            self.field(&line);
        }
        line.clear();
        self.line = line;
    }

    fn field(&mut self, line: &[u8]) {
        let colon = memchr::memchr(b':', line);
        let name = &line[..colon.unwrap_or(line.len())];
        let value = colon.map_or(&[][..], |at| &line[at + 1..]);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                let room = if self.oversize { HEAD.saturating_sub(self.data.len()) } else { value.len() };
                self.data.extend_from_slice(&value[..room.min(value.len())]);
            }
            b"event" => self.event.name = Some(lossy(value)),
            b"id" if !value.contains(&0) => self.event.id = Some(lossy(value)),
            b"retry" => self.event.retry = lossy(value).parse().ok(),
            _ => {}
        }
    }

    fn end_of_event(&mut self, out: &mut impl FnMut(Item)) {
        let mut event = std::mem::take(&mut self.event);
        let bytes = std::mem::take(&mut self.bytes);
        let data = std::mem::take(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        if std::mem::take(&mut self.oversize) {
            let cut = &data[..data.len().min(HEAD)];
            return out(Item::Oversize { head: lossy(cut), bytes });
        }
        event.data = has_data.then(|| String::from_utf8(data).unwrap_or_else(|error| lossy(error.as_bytes())));
        if event != Event::default() {
            out(Item::Event(event));
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(chunks: &[&[u8]], max: usize) -> Vec<Item> {
        let mut parser = Parser::new(max);
        let mut items = Vec::new();
        for chunk in chunks {
            parser.push(chunk, &mut |item| items.push(item));
        }
        parser.finish(&mut |item| items.push(item));
        items
    }

    fn event(data: &str) -> Event {
        Event { data: Some(data.into()), ..Event::default() }
    }

    #[test]
    fn shows_events_comments_ids_and_what_was_cut_short() {
        let stream =
            b"\xef\xbb\xbf: hello\nid: 7\nevent: message\ndata: a\ndata:  b\n\nretry: 50\n\nid: 8\ndata\n\n\ndata: cu";
        let items = parse(&[stream], 1000);
        let named = Event { name: Some("message".into()), id: Some("7".into()), ..event("a\n b") };
        assert_eq!(
            items,
            [
                Item::Comment("hello".into()),
                Item::Event(named),
                Item::Event(Event { retry: Some(50), ..Event::default() }),
                Item::Event(Event { id: Some("8".into()), ..event("") }),
                Item::Event(Event { truncated: true, ..event("cu") }),
            ]
        );
    }

    #[test]
    fn an_event_past_the_limit_costs_its_beginning_only() {
        let long = format!("data: {}\n\ndata: short\n\n", "x".repeat(5000));
        let items = parse(&[long.as_bytes()], 1000);
        let Item::Oversize { head, bytes } = &items[0] else { panic!("{items:?}") };
        assert!(head.len() <= HEAD && *bytes >= 5000);
        assert_eq!(items[1], Item::Event(event("short")));
    }

    #[test]
    fn a_line_end_that_comes_in_two_pieces_is_one() {
        let stream: [&[u8]; 5] = [b"data: a\r", b"", b"\n", b"\n", b"data: b\n\n"];
        assert_eq!(parse(&stream, 100), [Item::Event(event("a")), Item::Event(event("b"))]);
    }

    #[test]
    fn comments_do_not_add_up_to_an_event() {
        let stream = ": ping\n".repeat(1000) + "data: a\n\n";
        assert_eq!(parse(&[stream.as_bytes()], 100).last(), Some(&Item::Event(event("a"))));
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_give_the_same_items(
            lines in prop::collection::vec("(data: ?[a-zé:]{0,6}|id: [0-9]|retry: [0-9]{1,3}|: ?[a-z]{0,3}|event: [a-z]|)(\r\n|\n|\r)", 0..30),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            max in 8usize..64,
        ) {
            let stream = lines.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.push(0);
            cuts.push(stream.len());
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&chunks, max), parse(&[&stream], max));
        }

        #[test]
        fn any_bytes_are_read_without_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let whole = chunks.concat();
            prop_assert_eq!(parse(&chunks, 30), parse(&[&whole], 30));
        }
    }
}
