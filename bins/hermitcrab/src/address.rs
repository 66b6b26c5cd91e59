use std::str::FromStr;

use pscale_blocks::{Path, PathError};

use crate::error::Error;

/// A path as it was typed. `0.321` means `0.3.2.1`, and the command says that it was read so.
#[derive(Debug, Clone, Default)]
pub struct Address {
    pub path: Path,
    typed: String,
}

impl Address {
    /// Returns the path if it was typed in its usual form. A command that writes a node takes no other form.
    ///
    /// # Errors
    /// [`Error::UnusualPath`]: a path in another form may name a node that the person did not mean.
    pub fn as_written(&self) -> Result<Path, Error> {
        match self.note() {
            None => Ok(self.path),
            Some(_) => Err(Error::UnusualPath {
                typed: self.typed.clone(),
                path: self.path,
            }),
        }
    }

    /// Returns a line with the usual form of the path if it was typed in another form.
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
