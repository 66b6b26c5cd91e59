//! The lines of a journal: those that count, those that are passed over, and those of a newer program.

use std::ops::Range;

use super::FileStore;
use super::versions::Versioned;
use crate::KernelError;

/// The reason why a line does not count.
pub(crate) enum LineError {
    /// The line is damaged: it is passed over, and stays where it is.
    Unreadable,
    /// A newer program wrote the line, in this version.
    Newer(u64),
}

impl LineError {
    /// The reason why `line` is not one of version `known`. Its version is in the line or in the object inside of it.
    pub fn of(line: &[u8], known: u32) -> Self {
        let version = |line| serde_json::from_slice::<Versioned>(line).ok();
        let inside = || {
            let value: serde_json::Value = serde_json::from_slice(line).ok()?;
            let inner = value.as_object()?.values().next()?.get("schema_version")?;
            inner.as_u64()
        };
        let found = version(line)
            .map(|line| line.schema_version)
            .or_else(inside);
        match found.filter(|found| *found > u64::from(known)) {
            Some(found) => Self::Newer(found),
            None => Self::Unreadable,
        }
    }
}

/// Hands each whole line of a journal to `take`, with its place in `bytes`. A last line without its end was not written to the end, and is ignored.
/// Returns one line for the person if some cannot be read.
///
/// # Errors
/// `newer`: a newer program wrote a line.
pub(crate) fn read_lines(
    files: &FileStore,
    name: &str,
    known: u32,
    bytes: &[u8],
    mut take: impl FnMut(&[u8], Range<usize>) -> Result<(), LineError>,
) -> Result<Option<String>, KernelError> {
    let (mut count, mut first, mut start) = (0, 0, 0);
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    for (index, line) in lines.enumerate() {
        let place = start..start + line.len();
        start = place.end;
        let Some(line) = line.strip_suffix(b"\n") else {
            break;
        };
        match take(line, place) {
            Ok(()) => {}
            Err(LineError::Unreadable) => {
                count += 1;
                first = if count == 1 { index + 1 } else { first };
            }
            Err(LineError::Newer(found)) => {
                let path = files.path(name);
                return Err(KernelError::Newer { path, found, known });
            }
        }
    }
    Ok(match count {
        0 => None,
        1 => Some(format!(
            "{name}: line {first} cannot be read; it was passed over"
        )),
        count => Some(format!(
            "{name}: {count} lines cannot be read, the first is line {first}; they were passed over"
        )),
    })
}
