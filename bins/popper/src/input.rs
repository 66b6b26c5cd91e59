//! The input of a command: a file, or stdin for `-`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use popper_harness::json;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// The largest input, in MiB. It keeps an endless device from filling the memory; a real input is far below.
const LIMIT: u64 = 256;

/// A text with the name that messages call it by.
pub struct Text {
    pub name: String,
    pub text: String,
}

impl Text {
    /// Reads a file, or stdin for `-`. A byte order mark is left out.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (name, bytes) = (name(path), bytes(path)?);
        let mut text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let position = error.utf8_error().valid_up_to();
                return Err(Error::Encoding { name, position });
            }
        };
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.trim().is_empty() {
            return Err(Error::Empty { name });
        }
        Ok(Self { name, text })
    }

    /// The text as JSON in which no key is repeated.
    pub fn value(&self) -> Result<Value, Error> {
        json::parse(&self.text, "$")
            .map_err(|error| Error::form(&self.name, &error.path, error.message))
    }

    /// The text as JSON of a known form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        // Read a second time for the form, because only a text has lines and columns to name.
        self.value()?;
        serde_json::from_str(&self.text).map_err(|error| Error::form(&self.name, "$", error))
    }

    /// A part of the text's JSON in a known form; `path` says which part.
    pub fn part<T: DeserializeOwned>(&self, value: Value, path: &str) -> Result<T, Error> {
        serde_json::from_value(value).map_err(|error| Error::form(&self.name, path, error))
    }
}

/// Reads the bytes of a file, or of stdin for `-`.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let name = name(path);
    let failed = |source| Error::Read {
        name: name.clone(),
        source,
    };
    let mut bytes = Vec::new();
    let read = if is_stdin(path) {
        io::stdin()
            .lock()
            .take((LIMIT << 20) + 1)
            .read_to_end(&mut bytes)
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take((LIMIT << 20) + 1).read_to_end(&mut bytes)
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > LIMIT << 20 {
        return Err(Error::TooLarge { name, limit: LIMIT });
    }
    Ok(bytes)
}

pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input in messages.
pub fn name(path: &Path) -> String {
    if is_stdin(path) {
        "stdin".to_owned()
    } else {
        bin_support::escape(&path.display().to_string())
    }
}

/// Returns a path as a word of a command that can be pasted into a shell.
pub fn shell_word(path: &Path) -> String {
    bin_support::escape(&quoted(&path.display().to_string()))
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-./:=@%+,".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
