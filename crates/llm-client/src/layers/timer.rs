use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::{Clock, SystemClock};

/// A clock that can be waited on. [`SystemClock`] waits with tokio's runtime.
pub trait Timer: Clock {
    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Learns the time of a recorded attempt that answers a call. A clock that shows another time ignores it.
    fn replayed(&self, time: SystemTime) {
        let _ = time;
    }
}

impl Timer for SystemClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

/// A time of day as cassettes and ledgers contain it.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}
