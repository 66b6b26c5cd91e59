//! Requests that a face makes while no person is at it.

use std::collections::VecDeque;
use std::sync::PoisonError;

use jiff::{SignedDuration, Timestamp};

use crate::Fault;
use crate::kernel::Inner;

/// When they were made, oldest first.
pub(crate) type Made = VecDeque<Timestamp>;

impl Inner {
    /// Counts one more, unless the last hour has had as many as it may.
    pub(crate) fn unprompted_request(&self) -> Result<(), Fault> {
        const HOUR: SignedDuration = SignedDuration::from_hours(1);
        let most = self.config.settings.budgets.face_calls_hour;
        let now = self.clock.now();
        let mut made = self
            .unprompted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        made.retain(|at| now.duration_since(*at) < HOUR);
        if made.len() >= most as usize {
            let detail = format!(
                "faces may ask a model {most} times in an hour without the person (budgets.face_calls_hour)"
            );
            return Err(Fault::new("too_often", detail).hint("ask when the person clicks or types"));
        }
        made.push_back(now);
        Ok(())
    }
}
