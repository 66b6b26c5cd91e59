//! Null runs on all processors, with their progress on stderr and a stop by Ctrl-C.

use std::ops::ControlFlow;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use bin_support::{Failure, Interrupt, Session};
use logosphere_core::measures::nulls::NullProgress;

/// The time between two lines on a stderr that is not a terminal.
const EVERY: Duration = Duration::from_millis(900);

/// Returns the number of threads: the processors of this machine.
pub fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Returns an observer that shows the number of null runs and the time that is left, and stops them after Ctrl-C.
///
/// A terminal has a bar, which disappears with the observer; otherwise there is a line about every second.
pub fn null_runs(
    session: &Session,
) -> Result<impl FnMut(NullProgress) -> ControlFlow<()>, Failure> {
    let interrupt = Interrupt::on_signals()?;
    let begun = Instant::now();
    let mut shown = begun;
    let mut bar = None;
    Ok(move |now: NullProgress| {
        let bar = bar.get_or_insert_with(|| session.progress.bar("null runs", now.total as usize));
        bar.set_position(now.done.into());
        if bar.is_hidden() && shown.elapsed() >= EVERY {
            shown = Instant::now();
            let left = f64::from(now.total - now.done) / f64::from(now.done.max(1));
            let left = begun.elapsed().as_secs_f64() * left;
            session.status(&format!(
                "null runs {}/{}, {left:.0} s left",
                now.done, now.total
            ));
        }
        if interrupt.is_raised() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
}
