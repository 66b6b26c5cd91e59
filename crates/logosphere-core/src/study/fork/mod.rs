//! Forks: runs that share a journal up to a call and are continued several times, as they are and with changes.

mod begin;
mod difference;
#[cfg(feature = "report")]
mod page;
mod plan;
mod point;
mod summary;

pub use difference::{ArmDifference, LEAST_REPLICATES};
#[cfg(feature = "report")]
pub use page::page;
pub use plan::{ForkError, ForkFolder, ForkPlan, SharedPart};
pub use point::{ForkPoint, PointError};
pub use summary::{FollowedMessage, FollowedMessages, ForkSummary, Replicate, stopped};
