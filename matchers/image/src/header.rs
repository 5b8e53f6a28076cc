//! Type and size of an image, from its first bytes.

pub(crate) const KINDS: [&str; 3] = ["png", "jpeg", "gif"];

pub(crate) struct Header {
    pub(crate) kind: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Header, String> {
    let (kind, size) = match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', rest @ ..] => ("png", png(rest)),
        [0xff, 0xd8, 0xff, ..] => ("jpeg", jpeg(&bytes[2..])),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', rest @ ..] => ("gif", gif(rest)),
        _ => return Err("expected a PNG, JPEG or GIF image".into()),
    };
    let (width, height) = size.ok_or_else(|| format!("the {kind} header is cut short or broken"))?;
    Ok(Header { kind, width, height })
}

/// The first chunk: its length, `IHDR`, width, height.
fn png(rest: &[u8]) -> Option<(u32, u32)> {
    let rest = rest.get(4..)?.strip_prefix(b"IHDR")?;
    Some((u32::from_be_bytes(*rest.first_chunk()?), u32::from_be_bytes(*rest.get(4..)?.first_chunk()?)))
}

fn gif(rest: &[u8]) -> Option<(u32, u32)> {
    let [a, b, c, d] = *rest.first_chunk()?;
    Some((u16::from_le_bytes([a, b]).into(), u16::from_le_bytes([c, d]).into()))
}

/// Segments up to the start of a frame: `ff`, a marker, a length that counts itself; in a frame also precision, height
/// and width.
fn jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xff, marker, after @ ..] = rest else { return None };
        match marker {
            0xff => rest = &rest[1..],
            0x01 | 0xd0..=0xd7 => rest = after,
            0xc4 | 0xc8 | 0xcc => rest = skip(after)?,
            0xc0..=0xcf => {
                let [a, b, c, d] = *after.get(3..)?.first_chunk()?;
                return Some((u16::from_be_bytes([c, d]).into(), u16::from_be_bytes([a, b]).into()));
            }
            0xd9 | 0xda => return None,
            _ => rest = skip(after)?,
        }
    }
}

fn skip(segment: &[u8]) -> Option<&[u8]> {
    segment.get(u16::from_be_bytes(*segment.first_chunk()?).max(2).into()..)
}
