//! The limit of the work of a search.

use std::cell::Cell;

/// Work between two questions whether to stop, about a millisecond.
const ASKED_EVERY: u64 = 1 << 17;

/// The work that a search may do: a count, not a time, so that the result is the same on every machine.
pub(super) struct Fuel<'a> {
    left: Cell<u64>,
    /// Asked now and then whether to stop, which leaves nothing.
    stop: &'a dyn Fn() -> bool,
}

impl Fuel<'static> {
    pub fn new(limit: u64) -> Self {
        Fuel::with_stop(limit, &|| false)
    }
}

impl<'a> Fuel<'a> {
    pub fn with_stop(limit: u64, stop: &'a dyn Fn() -> bool) -> Self {
        let left = Cell::new(limit);
        Self { left, stop }
    }

    /// Takes some work; `None` if not enough is left.
    pub fn take(&self, amount: usize) -> Option<()> {
        let before = self.left.get();
        let after = before.checked_sub(amount as u64)?;
        self.left.set(after);
        if before / ASKED_EVERY != after / ASKED_EVERY && (self.stop)() {
            self.left.set(0);
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_after_a_stop() {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        let fuel = Fuel::with_stop(100 * ASKED_EVERY, &stop);
        let mut taken = 0;
        while fuel.take(1000).is_some() {
            taken += 1000;
        }
        assert!(taken > ASKED_EVERY && taken < 3 * ASKED_EVERY, "{taken}");
        assert_eq!((fuel.take(1), asked.get()), (None, 3));
        assert!(Fuel::new(10).take(11).is_none());
        assert!(Fuel::new(10).take(10).is_some());
    }
}
