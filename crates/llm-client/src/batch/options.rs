use std::time::Duration;

use durable::Disk;

use crate::Client;
use crate::settings::setters::setters;

/// The settings of a [`Spool`](super::Spool).
#[derive(Clone)]
#[non_exhaustive]
pub struct BatchOptions {
    /// The client whose provider, budget and timeouts hold.
    pub client: Client,
    /// The maximum number of requests in a batch. The server's own limit holds, too.
    pub max_requests: usize,
    /// The age from which a batch that is not over is given up, after 10 minutes of asking; its requests go into another.
    pub max_age: Duration,
    /// Whether a batch that may or may not be at the server is submitted again at once, which may be paid twice.
    pub resubmit: bool,
    /// The way to write the file, which its owner alone can read.
    pub(super) disk: Disk,
}

impl BatchOptions {
    /// Batches as large as the server allows, whose results are kept for 29 days.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            max_requests: usize::MAX,
            max_age: Duration::from_hours(29 * 24),
            resubmit: false,
            disk: Disk::private(".orrery-"),
        }
    }

    setters! {
        max_requests: usize,
        max_age: Duration,
        resubmit: bool,
    }

    /// A disk that fails, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn disk(self, disk: Disk) -> Self {
        Self { disk, ..self }
    }
}
