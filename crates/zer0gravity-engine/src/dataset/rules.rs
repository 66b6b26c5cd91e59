use thiserror::Error;

use super::MAX_TEXT_BYTES;
use crate::text::js_trim;

/// The reason why a file has no usable rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RulesError {
    /// The file is not UTF-8.
    #[error("not UTF-8 at byte {at}; save the file as UTF-8")]
    NotUtf8 {
        /// The first invalid byte, from 0.
        at: usize,
    },
    /// The file is empty or has only white space.
    #[error("blank; write the rules into it")]
    Blank,
    /// The rules have more bytes than [`MAX_TEXT_BYTES`].
    #[error("{bytes} bytes, at most {MAX_TEXT_BYTES} are allowed; shorten them")]
    TooLong {
        /// The length of the file.
        bytes: usize,
    },
}

/// Returns rules as they are used and hashed: without a BOM, and with LF in place of CRLF.
///
/// # Errors
/// [`RulesError`]: the file is longer than 1 MiB, not UTF-8, or blank.
///
/// ```
/// use zer0gravity_engine::dataset::{RulesError, normalise_rules};
/// assert_eq!(normalise_rules(b"\xef\xbb\xbfA: x\r\nB: y\n").as_deref(), Ok("A: x\nB: y\n"));
/// assert_eq!(normalise_rules(b" \r\n"), Err(RulesError::Blank));
/// assert_eq!(normalise_rules(b"a\xff"), Err(RulesError::NotUtf8 { at: 1 }));
/// ```
pub fn normalise_rules(bytes: &[u8]) -> Result<String, RulesError> {
    if bytes.len() > MAX_TEXT_BYTES {
        let bytes = bytes.len();
        return Err(RulesError::TooLong { bytes });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| RulesError::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if js_trim(text).is_empty() {
        return Err(RulesError::Blank);
    }
    Ok(text.replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_and_what_is_refused() {
        assert_eq!(normalise_rules(b"a\rb\n\r\n").as_deref(), Ok("a\rb\n\n"));
        assert_eq!(
            normalise_rules(crate::DEFAULT_RULES.as_bytes()).as_deref(),
            Ok(crate::DEFAULT_RULES)
        );
        let mut long = vec![b'a'; MAX_TEXT_BYTES];
        assert!(normalise_rules(&long).is_ok());
        long.push(b'a');
        let bytes = long.len();
        assert_eq!(normalise_rules(&long), Err(RulesError::TooLong { bytes }));
        assert_eq!(normalise_rules(b""), Err(RulesError::Blank));
        assert_eq!(
            normalise_rules("\u{feff}\u{a0}".as_bytes()),
            Err(RulesError::Blank)
        );
    }
}
