use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The deepest node of a block.
pub const MAX_DEPTH: usize = 32;

/// The address of a node: up to 32 digits, from the top of the tree. The empty path is the tree itself.
///
/// It is written `0.3.2.1`. Every digit is one level, whatever the dots: `0.321` and `0321` are read as the same path.
#[derive(Clone, Copy, Default)]
pub struct Path {
    digits: [u8; MAX_DEPTH],
    len: u8,
}

/// The reason why a text is not a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Something other than a digit, or a component without one.
    #[error(
        "character {at} of the path is not a digit; a path is digits with single dots between them, such as 0.3.1"
    )]
    Bad {
        /// The character, from 0.
        at: usize,
    },
    /// More than 32 digits.
    #[error("the path has more than {MAX_DEPTH} digits")]
    TooDeep,
}

impl Path {
    /// The tree itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The digits, each 0 to 9.
    pub fn digits(&self) -> &[u8] {
        &self.digits[..usize::from(self.len)]
    }

    /// The number of digits.
    pub fn depth(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether this is the tree itself.
    pub fn is_root(&self) -> bool {
        self.len == 0
    }

    /// The node above. `None` for the tree itself.
    pub fn parent(&self) -> Option<Self> {
        let len = self.len.checked_sub(1)?;
        Some(self.prefix(usize::from(len)))
    }

    /// The first `depth` digits; the whole path if it has no more.
    pub(crate) fn prefix(&self, depth: usize) -> Self {
        let mut short = Self::root();
        let kept = &self.digits()[..depth.min(self.depth())];
        short.digits[..kept.len()].copy_from_slice(kept);
        short.len = kept.len() as u8;
        short
    }

    /// The node below at `digit`.
    ///
    /// # Errors
    /// [`PathError::TooDeep`] below 32 digits; [`PathError::Bad`] if `digit` is over 9.
    pub fn child(&self, digit: u8) -> Result<Self, PathError> {
        if digit > 9 {
            return Err(PathError::Bad { at: 0 });
        }
        if self.depth() == MAX_DEPTH {
            return Err(PathError::TooDeep);
        }
        let mut longer = *self;
        longer.digits[self.depth()] = digit;
        longer.len += 1;
        Ok(longer)
    }

    /// The path of `digits`.
    ///
    /// # Errors
    /// A number above 9, or more than 32 of them.
    pub fn from_digits(digits: impl IntoIterator<Item = u8>) -> Result<Self, PathError> {
        digits
            .into_iter()
            .try_fold(Self::root(), |path, digit| path.child(digit))
    }

    /// Whether the other node is this one or below it.
    pub fn holds(&self, other: &Self) -> bool {
        other.digits().starts_with(self.digits())
    }

    /// The path as it is shown in a block of this `decimal`: a dot after the first `decimal` digits, and no dot for decimal 0.
    /// `None` for the empty path. Only for display.
    pub fn compact(&self, decimal: u8) -> Option<String> {
        if self.is_root() {
            return None;
        }
        let mut text = String::with_capacity(self.depth() + 1);
        for (index, digit) in self.digits().iter().enumerate() {
            if index > 0 && index == usize::from(decimal) {
                text.push('.');
            }
            text.push(char::from(b'0' + digit));
        }
        Some(text)
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut path = Self::root();
        // A component begins: a digit must come.
        let mut fresh = true;
        let mut at = 0;
        for (index, letter) in text.chars().enumerate() {
            at = index + 1;
            match letter {
                '0'..='9' => {
                    path = path.child(letter as u8 - b'0')?;
                    fresh = false;
                }
                '.' if !fresh => fresh = true,
                _ => return Err(PathError::Bad { at: index }),
            }
        }
        if fresh && at > 0 {
            return Err(PathError::Bad { at });
        }
        Ok(path)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, digit) in self.digits().iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.digits() == other.digits()
    }
}

impl Eq for Path {}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A node comes before what is below it, and lower digits before higher ones.
impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        self.digits().cmp(other.digits())
    }
}

impl Hash for Path {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digits().hash(state);
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Path;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // As a number 0.10 would become 0.1.
                f.write_str("a path in quotes, such as \"0.3.1\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Path, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text).map_err(D::Error::custom)
    }
}
