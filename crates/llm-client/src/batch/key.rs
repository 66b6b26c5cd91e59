use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::recording::hash::sha256_hex;

/// The name of a request in its spool and, as `custom_id`, at the server: `SSSSSSSS-HHHH...`, the spool's id and a hash of the
/// request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The key of the request with the hash `root`; `number` counts equal requests of one submission, from 0.
    pub(super) fn new(spool: &str, root: &str, number: u64) -> Self {
        let hash = sha256_hex(format!("{root}\n{number}").as_bytes());
        Self(format!("{spool}-{}", &hash[..40]))
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
