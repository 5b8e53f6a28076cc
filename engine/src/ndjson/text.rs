//! Text that comes in pieces: decoded as it arrives, whatever the bytes.

/// Decodes UTF-8 piece by piece; what is none becomes U+FFFD.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl Decoder {
    /// The text of a piece, except the beginning of a character at its very end.
    pub fn decode(&mut self, piece: &[u8]) -> String {
        let joined: Vec<u8>;
        let bytes = if self.pending.is_empty() {
            piece
        } else {
            joined = [&self.pending[..], piece].concat();
            &joined
        };
        let mut text = String::with_capacity(bytes.len());
        let mut pending = Vec::new();
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_beginning(invalid) {
                pending = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push('\u{FFFD}');
            }
        }
        self.pending = pending;
        text
    }

    /// What is left when the stream has ended.
    pub fn finish(&mut self) -> String {
        if std::mem::take(&mut self.pending).is_empty() { String::new() } else { "\u{FFFD}".to_owned() }
    }
}

fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_may_come_in_pieces() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(b"a\xF0\x9F"), "a");
        assert_eq!(decoder.decode(b"\x98"), "");
        assert_eq!(decoder.decode(b"\x80b"), "😀b");
        assert_eq!(decoder.decode(b"c\xC3"), "c");
        assert_eq!(decoder.finish(), "\u{FFFD}");
        assert_eq!(decoder.finish(), "");
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_text_of_the_whole(bytes: Vec<u8>, cuts: Vec<prop::sample::Index>) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut decoder = Decoder::default();
            let mut text: String = cuts.windows(2).map(|cut| decoder.decode(&bytes[cut[0]..cut[1]])).collect();
            text.push_str(&decoder.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
