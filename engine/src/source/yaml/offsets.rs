//! Character positions, as the YAML scanner counts them, to byte offsets.

/// How many characters lie between two known offsets.
const STRIDE: usize = 64;

/// A sparse index from characters to bytes.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// The byte offset of every [`STRIDE`]th character; empty when the text is ASCII and both counts are one.
    known: Vec<u32>,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(text: &'a str) -> Offsets<'a> {
        let known = match text.is_ascii() {
            true => Vec::new(),
            false => text.char_indices().step_by(STRIDE).map(|(byte, _)| byte as u32).collect(),
        };
        Offsets { text, known }
    }

    /// The byte offset of the character at `index`; the text's length for anything past it.
    pub(super) fn byte(&self, index: usize) -> usize {
        if self.known.is_empty() {
            return index.min(self.text.len());
        }
        let Some(&start) = self.known.get(index / STRIDE) else { return self.text.len() };
        let rest = &self.text[start as usize..];
        rest.char_indices().nth(index % STRIDE).map_or(self.text.len(), |(byte, _)| start as usize + byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_maps_to_its_byte() {
        let text = "aä語😀".repeat(100);
        let offsets = Offsets::new(&text);
        for (index, (byte, _)) in text.char_indices().enumerate() {
            assert_eq!(offsets.byte(index), byte);
        }
        assert_eq!(offsets.byte(400), text.len());
        assert_eq!(offsets.byte(4000), text.len());
        assert_eq!(Offsets::new("abc").byte(9), 3);
    }
}
