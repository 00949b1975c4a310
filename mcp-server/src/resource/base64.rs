//! Base64, which is how the protocol carries anything but text.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64, for [`ResourceContents::blob`](crate::types::ResourceContents::blob)
/// and for pictures and sound.
///
/// Spec: [RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-4), with padding.
#[must_use]
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            text.push(if place > chunk.len() {
                '='
            } else {
                char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads what was written, letter by letter.
    fn decoded(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (mut bits, mut count) = (0_u32, 0);
        for letter in text.bytes().filter(|letter| *letter != b'=') {
            let value = LETTERS.iter().position(|known| *known == letter);
            bits = bits << 6 | value.expect("a letter of base64") as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        bytes
    }

    #[test]
    fn the_vectors_of_the_rfc_are_written() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes), text);
        }
        assert_eq!(base64([0xfb, 0xff, 0xbf]), "+/+/");
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let text = base64(&bytes);
            prop_assert_eq!(text.len() % 4, 0);
            prop_assert_eq!(decoded(&text), bytes);
        }
    }
}
