//! The usage of model calls, and their budgets.

mod archives;
mod budget;
mod meter;
mod record;
mod sums;
mod usage;

pub(crate) use meter::SpendMeter;
pub use record::UsageRecord;
pub(crate) use usage::FILE;
