//! Which model a program asks.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the codecs it chooses from are on their way")
)]
mod choice;
mod flags;

pub use choice::ModelDefaults;
pub use flags::{ModelFlags, ProviderName};
