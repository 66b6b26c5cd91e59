//! The progress of a run at a terminal, and its stop at Ctrl-C.

use bin_support::{Interrupt, Progress, escape};
use futures_util::future::BoxFuture;
use indicatif::ProgressBar;
use popper_discovery::store::RunCost;
use popper_discovery::{Event, Observer, Summary};

use super::cost::words;
use super::database::spoken;

/// The observer of a run at a terminal.
pub struct ProgressObserver {
    progress: Progress,
    interrupt: Interrupt,
    cost: RunCost,
    place: String,
    /// Whether an event came since it was last asked for.
    has_progressed: bool,
    bar: Option<ProgressBar>,
}

impl ProgressObserver {
    /// Returns an observer; `cost` is the cost of the run so far.
    pub fn new(progress: Progress, interrupt: Interrupt, cost: RunCost) -> Self {
        Self {
            progress,
            interrupt,
            cost,
            place: String::new(),
            has_progressed: false,
            bar: None,
        }
    }

    /// Returns the request to stop.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Whether anything happened since the last call.
    pub fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.has_progressed)
    }

    fn completed(&self, summary: &Summary) -> String {
        let aside: Vec<String> = [
            (summary.rejected, "invalid"),
            (summary.duplicates, "repeated"),
            (summary.known.len() as u64, "known"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        let aside = if aside.is_empty() {
            String::new()
        } else {
            format!(" ({})", aside.join(", "))
        };
        let verdicts = summary.verdicts.unwrap_or_default();
        let cost = match self.cost.calls {
            0 => String::new(),
            _ => format!("; so far {}", words(&self.cost)),
        };
        format!(
            "{}: {} proposed{aside}, {} tested: {} PASS, {} FAIL, {} UNKNOWN{cost}",
            self.place,
            summary.proposed,
            summary.selected.len(),
            verdicts.pass,
            verdicts.fail,
            verdicts.unknown,
        )
    }
}

impl Observer for ProgressObserver {
    fn event(&mut self, event: Event<'_>) {
        self.has_progressed = true;
        match event {
            Event::Iteration { index, total } => {
                self.place = format!("iteration {index} of {}", total.max(index));
            }
            Event::Called(call) => self.cost.add(call),
            Event::Planned(summary) => {
                let tests = summary.selected.len();
                self.bar = Some(self.progress.bar(self.place.clone(), tests));
            }
            Event::Unreadable { law, error } => {
                let name = escape(&law.law_id);
                tracing::warn!("law {name} is skipped: {}", spoken(error));
            }
            Event::Decided(_) => {
                if let Some(bar) = &self.bar {
                    bar.inc(1);
                }
            }
            Event::Completed(summary) => {
                self.bar = None;
                tracing::info!("{}", self.completed(summary));
            }
            _ => {}
        }
    }

    fn stop(&self) -> bool {
        self.interrupt.is_raised()
    }

    fn stopped(&self) -> BoxFuture<'static, ()> {
        let interrupt = self.interrupt.clone();
        Box::pin(async move { interrupt.raised().await })
    }
}
