//! The latch of one evaluation.

use std::sync::atomic::{AtomicBool, Ordering};

/// Asked between two pieces of work: whether to stop. After the first `true` the answer counts as `true` for the rest of the evaluation.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Whether an evaluation may continue, asked between pieces of work by every stage.
///
/// A latch: once the caller has said stop, the answer stays stop, whatever the caller says later.
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

    /// Asks whether to stop.
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

    /// Whether some stage received the answer stop, so that its result may be incomplete.
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}
