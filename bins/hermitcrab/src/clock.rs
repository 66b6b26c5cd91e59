//! The time of this machine.

use jiff::Timestamp;
use llm_client::{Clock as _, SystemClock};
use pscale_blocks::{EditAuthor, Stamp};

pub fn now() -> Timestamp {
    Timestamp::try_from(SystemClock::new().now()).unwrap_or(Timestamp::MAX)
}

/// An edit that the person makes now.
pub fn by_the_person() -> Stamp {
    Stamp::new(now(), EditAuthor::Person)
}
