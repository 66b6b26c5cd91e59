//! Null runs on several threads.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

/// The number of null runs that are done.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullProgress {
    /// The number that is done, from 1.
    pub done: u32,
    /// The number of all.
    pub total: u32,
}

/// Returns the results of runs 0 to `runs`, in order; they do not depend on the number of threads.
///
/// `on_run` is called on this thread after each run. If it breaks, no further run begins and the result is `None`.
pub(super) fn null_runs<T: Send>(
    runs: u32,
    threads: usize,
    run: impl Fn(u32) -> T + Sync,
    on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
) -> Option<Vec<T>> {
    let total = runs;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1));
    let Ok(pool) = pool.build() else {
        // Without further threads the runs are made one after another.
        let each = |index| {
            let result = run(index);
            let done = index + 1;
            on_run(NullProgress { done, total })
                .is_continue()
                .then_some(result)
        };
        return (0..runs).map(each).collect();
    };
    let is_stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, done) = mpsc::channel();
        let (is_stopped, run) = (&is_stopped, &run);
        let worker = scope.spawn(move || {
            let each = |index| {
                if is_stopped.load(Ordering::Relaxed) {
                    return None;
                }
                let result = run(index);
                // The receiver is gone only after a panic, which ends the work anyway.
                let _ = sender.send(());
                Some(result)
            };
            pool.install(|| {
                (0..runs)
                    .into_par_iter()
                    .map(each)
                    .collect::<Option<Vec<T>>>()
            })
        });
        for ((), done) in done.iter().zip(1..) {
            if on_run(NullProgress { done, total }).is_break() {
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
        let results = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        results.filter(|_| !is_stopped.load(Ordering::Relaxed))
    })
}
