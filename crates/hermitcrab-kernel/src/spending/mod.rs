//! The usage of model calls, and their budgets.

mod budget;
mod meter;
mod usage;

pub(crate) use meter::SpendMeter;
pub(crate) use usage::FILE;
