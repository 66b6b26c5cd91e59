//! What calls took, and what they may take.

mod budget;
mod meter;
mod usage;

pub(crate) use meter::SpendMeter;
pub(crate) use usage::FILE;
