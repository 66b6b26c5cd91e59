//! What calls took, and what they may take.

mod budget;
mod unprompted;
mod usage;

pub(crate) use budget::allow;
pub(crate) use unprompted::Made;
pub(crate) use usage::{Call, FILE, Meter};
