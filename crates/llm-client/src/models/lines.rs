use serde::Deserialize;
use serde_json::value::RawValue;

/// A problem in a JSON text that a person wrote, with its line, from 1.
#[derive(Debug)]
pub(crate) struct LineError {
    pub line: usize,
    pub why: String,
}

/// Reads `json` as a `T`.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, LineError> {
    serde_json::from_str(json).map_err(|error| {
        // The message names the place too, and a part's place would be wrong in the whole.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let why = error.to_string();
        LineError {
            line: error.line().max(1),
            why: why.strip_suffix(&place).unwrap_or(&why).to_owned(),
        }
    })
}

/// Reads `part`, a slice of `json`, as a `T`; line numbers are those of `json`.
pub(crate) fn read_part<'a, T: Deserialize<'a>>(
    json: &str,
    part: &'a RawValue,
) -> Result<T, LineError> {
    read(part.get()).map_err(|error| LineError {
        line: line_of(json, part) + error.line - 1,
        why: error.why,
    })
}

/// The line of `json` on which its slice `part` begins.
pub(crate) fn line_of(json: &str, part: &RawValue) -> usize {
    let start = part
        .get()
        .as_ptr()
        .addr()
        .saturating_sub(json.as_ptr().addr());
    let before = json.as_bytes().get(..start).unwrap_or_default();
    1 + before.split(|&byte| byte == b'\n').skip(1).count()
}
