//! The stop latch of one evaluation.

use std::sync::atomic::{AtomicBool, Ordering};

/// A function that says whether to stop, called between two pieces of work.
///
/// Its first `true` holds for the rest of the evaluation.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The stop latch that every stage checks between two pieces of work.
///
/// After the first `true` of the stop function the latch stays set.
pub(crate) struct Budget<'a> {
    stop: Stop<'a>,
    cut: AtomicBool,
}

impl<'a> Budget<'a> {
    pub fn new(stop: Stop<'a>) -> Self {
        Self {
            stop,
            cut: AtomicBool::new(false),
        }
    }

    /// Whether to stop, according to the caller or an earlier answer.
    pub fn is_spent(&self) -> bool {
        if self.was_cut() {
            return true;
        }
        let stop = (self.stop)();
        if stop {
            self.cut.store(true, Ordering::Relaxed);
        }
        stop
    }

    /// Whether some stage was stopped, so that its result may be incomplete.
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}
