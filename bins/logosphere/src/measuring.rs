//! The threads and the progress bar of a measurement with null models.

use std::thread::available_parallelism;

use bin_support::Session;
use logosphere_core::measures::NullProgress;

/// Returns the number of threads: the processors of this machine.
pub fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Returns an observer that shows `null runs` with their number on stderr. The bar disappears with it.
pub fn null_runs(session: &Session) -> impl FnMut(NullProgress) + use<> {
    let progress = session.progress.clone();
    let mut bar = None;
    move |now| {
        let bar = bar.get_or_insert_with(|| progress.bar("null runs", now.total as usize));
        bar.set_position(now.done.into());
    }
}
