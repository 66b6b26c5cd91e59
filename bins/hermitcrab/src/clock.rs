//! The time of this machine.

use jiff::Timestamp;
use pscale_blocks::{EditAuthor, Stamp};

pub fn now() -> Timestamp {
    Timestamp::now()
}

/// An edit that the person makes now.
pub fn by_the_person() -> Stamp {
    Stamp {
        at: now(),
        by: EditAuthor::Person,
        note: None,
    }
}
