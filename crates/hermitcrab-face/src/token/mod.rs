//! A secret of the page, and the rates at which it may be used.

mod rate;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

pub(crate) use rate::Rate;

/// A secret of 128 random bits, as 22 letters that fit into an address.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// Makes a token; `None` if the system has no random numbers.
    #[expect(
        clippy::disallowed_methods,
        reason = "a secret: no seed and no caller may know it before"
    )]
    pub fn new() -> Option<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).ok()?;
        Some(Self(URL_SAFE_NO_PAD.encode(bits)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that tells nothing of where they differ.
    pub fn is(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
