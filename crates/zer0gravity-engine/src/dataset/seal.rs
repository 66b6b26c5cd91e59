//! A commitment to texts before they are published.

use serde::{Deserialize, Serialize};

use super::Case;
use crate::text::hash::{canonical_json, sha256_hex};

/// The `kind` of a seal's JSON.
const KIND: &str = "zer0gravity.seal";

/// A commitment to the texts of a contest: published before the systems are handed in, it shows later that the texts are the same.
/// The salt stays secret until then, because short texts could be guessed without it.
///
/// ```
/// use zer0gravity_engine::dataset::{Case, Seal};
/// let cases = [Case::new("a", "Hello world!")];
/// let seal = Seal::new([7; 32], &cases);
/// assert!(seal.holds(&cases));
/// assert!(!seal.holds(&[Case::new("a", "Hello, world!")]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seal {
    /// The version of this form.
    pub schema_version: u32,
    /// The text `zer0gravity.seal`.
    pub kind: String,
    /// The SHA-256 of the salt and the cases as canonical JSON, in hex.
    pub commitment: String,
    /// The number of cases.
    pub cases: usize,
    /// 32 random bytes in hex.
    pub salt: String,
}

impl Seal {
    /// Seals `cases` in this order with 32 random bytes.
    pub fn new(salt: [u8; 32], cases: &[Case]) -> Self {
        Self {
            schema_version: 1,
            kind: KIND.to_owned(),
            commitment: commitment(&salt, cases),
            cases: cases.len(),
            salt: hex::encode(salt),
        }
    }

    /// Reads the JSON of a seal.
    ///
    /// # Errors
    /// A sentence: the text is not JSON, has another kind or version, or its salt is not 32 bytes in hex.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        let seal: Self = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if seal.kind != KIND || seal.schema_version != 1 {
            return Err(format!("kind is not {KIND:?} of version 1"));
        }
        let is_salt = hex::decode(&seal.salt).is_ok_and(|salt| salt.len() == 32);
        if is_salt {
            Ok(seal)
        } else {
            Err("salt is not 32 bytes in hex".to_owned())
        }
    }

    /// Whether the commitment is to these cases in this order.
    pub fn holds(&self, cases: &[Case]) -> bool {
        let salt = hex::decode(&self.salt).unwrap_or_default();
        commitment(&salt, cases) == self.commitment
    }
}

#[expect(clippy::expect_used, reason = "strings make JSON")]
fn commitment(salt: &[u8], cases: &[Case]) -> String {
    let cases = serde_json::to_value(cases).expect("cases as JSON");
    sha256_hex(&[salt, canonical_json(cases).as_bytes()].concat())
}
