use std::str::FromStr;

use pscale_blocks::{Path, PathError};

use crate::error::Error;

/// A path as it was typed: `0.321` is `0.3.2.1`, and whoever typed it is told so.
#[derive(Debug, Clone, Default)]
pub struct Address {
    pub path: Path,
    typed: String,
}

impl Address {
    /// The path, if it was typed as it is written.
    ///
    /// # Errors
    /// It was typed in another way: nothing is written where it was not meant.
    pub fn as_written(&self) -> Result<Path, Error> {
        match self.note() {
            None => Ok(self.path),
            Some(_) => Err(Error::UnusualPath {
                typed: self.typed.clone(),
                path: self.path,
            }),
        }
    }

    /// How the path was understood, if it was typed in another way than it is written.
    pub fn note(&self) -> Option<String> {
        let canonical = self.path.to_string();
        (canonical != self.typed).then(|| format!("read as {canonical}"))
    }
}

impl FromStr for Address {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Ok(Self {
            path: text.parse()?,
            typed: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unusual_way_of_writing_is_noted() {
        let note = |text: &str| text.parse::<Address>().unwrap().note();
        assert_eq!(note("0.321"), Some("read as 0.3.2.1".to_owned()));
        assert_eq!(note("4321.1"), Some("read as 4.3.2.1.1".to_owned()));
        assert_eq!((note("0.3"), note(""), note("0")), (None, None, None));
    }
}
