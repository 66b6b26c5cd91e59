//! A sweep or a fork in progress as lines for a terminal.

use std::time::Duration;

use bin_support::Failure;
use bin_support::page::RunPhase as WatchPhase;
use logosphere_core::experiment::Experiment;

use crate::error::Error;
use crate::run_view::{Frame, bar, lines, named};
use crate::setup::{failure, shown};
use crate::status::is_in_use;
use crate::study_folder::{PlanChange, StudyFolder, StudyPlan};
use crate::study_runs::{StudyGroup, StudyRuns};

/// The largest number of lines.
const LINES: usize = 20;
/// The number of runs in progress, and of runs that cannot be read, that are named.
const IN_PROGRESS: usize = 3;
const FAILED: usize = 2;

/// A sweep or a fork that is shown while another process makes its runs.
pub struct StudyView {
    folder: StudyFolder,
    /// The folder, for its lock.
    locked: Experiment,
    plan: Option<StudyPlan>,
    runs: StudyRuns,
    /// Whether a process worked on the runs when their reading began.
    is_in_use: bool,
    /// Whether all runs were read once.
    is_read: bool,
}

/// The numbers of runs.
#[derive(Default)]
struct Counts {
    all: u64,
    ended: u64,
    open: u64,
    failed: u64,
}

impl StudyView {
    pub fn new(folder: StudyFolder) -> Result<Self, Failure> {
        Ok(Self {
            locked: Experiment::open(folder.path()).map_err(failure)?,
            folder,
            plan: None,
            runs: StudyRuns::default(),
            is_in_use: false,
            is_read: false,
        })
    }

    /// Reads what was added to the runs, for about as long as `limit`, and returns the lines, each at most `columns` wide.
    pub fn frame(&mut self, columns: usize, limit: Option<Duration>) -> Result<Frame, Failure> {
        // The lock of a folder without a plan is left to the process that is about to take it.
        let has_plan = self.folder.path().join("plan.json").exists();
        let is_in_use = has_plan && is_in_use(&self.locked);
        let change = self.folder.read_plan(is_in_use, &mut self.plan)?;
        let had_plan = self.plan.is_some();
        let Some(plan) = self.plan.as_ref().filter(|_| change != PlanChange::Missing) else {
            // A plan is replaced in one step, so it is missing for good.
            if had_plan && !has_plan || !self.folder.path().is_dir() {
                let path = self.folder.path().to_owned();
                return Err(Failure::usage(Error::Removed { path }));
            }
            let (kind, _) = self.folder.kind();
            let waiting = "not begun; waiting for its plan".to_owned();
            let rows = [(kind, shown(self.folder.path())), ("runs", waiting)];
            return Ok(Frame {
                lines: lines(rows, columns),
                phase: WatchPhase::Running,
                is_whole: true,
            });
        };
        if change == PlanChange::New {
            self.runs = StudyRuns::new(plan);
            self.is_read = false;
        }
        if self.runs.is_at_start() {
            self.is_in_use = is_in_use;
        }
        let is_whole = self.runs.advance(&self.folder, plan, limit);
        self.is_read |= is_whole;
        let counts = Counts::of(&self.runs, plan);
        let (word, phase) = if is_whole {
            self.phase(&counts)
        } else {
            ("running", WatchPhase::Running)
        };
        Ok(Frame {
            lines: lines(self.rows(word, &counts, columns), columns),
            phase,
            is_whole: self.is_read,
        })
    }

    fn phase(&self, counts: &Counts) -> (&'static str, WatchPhase) {
        let Some(plan) = &self.plan else {
            return ("running", WatchPhase::Running);
        };
        let next = || self.folder.next(plan);
        let is_done = counts.ended == counts.all;
        if self.is_in_use {
            let word = if is_done { "testing" } else { "running" };
            return (word, WatchPhase::Running);
        }
        if is_done && self.folder.has_result() {
            return ("ended", WatchPhase::Finished);
        }
        if counts.ended + counts.open + counts.failed == 0 {
            let word = "not begun; waiting for its first run";
            return (word, WatchPhase::Running);
        }
        let line = match counts.failed {
            0 => format!("stopped, not finished; continue with: {}", next()),
            failed => format!(
                "stopped; runs that cannot be read: {failed}; move their folders away, then continue with: {}",
                next()
            ),
        };
        ("stopped", WatchPhase::Stopped(line))
    }

    /// Returns the names and texts of all lines.
    fn rows(&self, word: &str, counts: &Counts, columns: usize) -> Vec<(&'static str, String)> {
        let Some(plan) = &self.plan else {
            return Vec::new();
        };
        let (kind, kind_of_groups) = self.folder.kind();
        let mut rows = vec![
            (kind, format!("{}, {word}", self.folder.title(plan))),
            ("runs", counts.text(columns)),
            (kind_of_groups, self.groups(plan)),
        ];
        let after = self.rows_after(plan);
        let room = LINES - rows.len() - after.len();
        rows.extend(self.lines_of_groups(plan, room));
        rows.extend(after);
        rows
    }

    /// Returns the lines after those of the groups.
    fn rows_after(&self, plan: &StudyPlan) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if !self.is_read {
            let (read, all) = (self.runs.read_groups(), plan.groups());
            rows.push(("reading", format!("{read} of {all} folders so far")));
        }
        let totals = self.runs.totals();
        rows.push((
            "calls",
            format!("{}, {} failed", totals.calls, totals.failed_calls),
        ));
        let tokens = format!("{} in, {} out", totals.prompt_tokens, totals.answer_tokens);
        rows.push(("tokens", tokens));
        let cost = match (totals.cost, totals.unpriced) {
            (Some(cost), 0) => Some(cost.to_string()),
            (Some(cost), unpriced) => Some(format!("{cost}, unknown for {unpriced} runs")),
            (None, 0) => None,
            (None, _) => Some("unknown: the model has no known price".to_owned()),
        };
        rows.extend(cost.map(|cost| ("cost", cost)));
        if totals.calls > 0 && !totals.has_model {
            rows.push(("offline", "no model was called".to_owned()));
        }
        if self.is_in_use {
            let runs = self.runs.in_progress(&self.folder, plan);
            let texts = runs
                .iter()
                .map(|run| format!("{} in round {} of {}", run.name, run.round, run.max_rounds));
            rows.extend(named(
                "in progress",
                first(texts.collect(), IN_PROGRESS, "runs"),
            ));
        }
        let failed = self.runs.failed(plan).into_iter();
        let failed = failed.map(|(run, why)| format!("{run}: {why}"));
        rows.extend(named("failed", first(failed.collect(), FAILED, "runs")));
        rows.extend(
            self.runs
                .last_error()
                .map(|text| ("last error", text.to_owned())),
        );
        rows
    }

    /// Counts the groups.
    fn groups(&self, plan: &StudyPlan) -> String {
        let count = |is_counted: &dyn Fn(&StudyGroup) -> bool| {
            let groups = self.runs.groups.iter();
            groups.filter(|group| is_counted(group)).count()
        };
        format!(
            "{}/{} done, {} with open runs, {} with failed runs",
            count(&|group| group.ended >= plan.repeats()),
            plan.groups(),
            count(&|group| group.open() > 0),
            count(&|group| group.failed() > 0)
        )
    }

    /// Returns a line for each group, those with open runs first, then those with runs that cannot be read.
    fn lines_of_groups(
        &self,
        plan: &StudyPlan,
        room: usize,
    ) -> impl Iterator<Item = (&'static str, String)> {
        let class = |group: &StudyGroup| match (group.open(), group.failed()) {
            (0, 0) => 2,
            (0, _) => 1,
            _ => 0,
        };
        let mut order: Vec<_> = (self.runs.groups.iter().enumerate())
            .map(|(at, group)| (class(group), at))
            .collect();
        order.sort_unstable();
        let named = if order.len() > room {
            room.saturating_sub(1)
        } else {
            room
        };
        let more = order.len().saturating_sub(named);
        let mut texts = Vec::new();
        for (_, at) in order.into_iter().take(named) {
            let group = &self.runs.groups[at];
            let mut text = format!("{}/{} {}", group.ended, plan.repeats(), plan.group(at));
            for (count, word) in [(group.open(), "open"), (group.failed(), "failed")] {
                if count > 0 {
                    text = format!("{text}  {count} {word}");
                }
            }
            texts.push(match group.cost() {
                Some(cost) => format!("{text}  {cost}"),
                None => text,
            });
        }
        if more > 0 {
            texts.push(format!("and {more} more {}", self.folder.kind().1));
        }
        texts.into_iter().map(|text| ("", text))
    }
}

impl Counts {
    fn of(runs: &StudyRuns, plan: &StudyPlan) -> Self {
        let mut counts = Self {
            all: plan.groups() as u64 * u64::from(plan.repeats()),
            ..Self::default()
        };
        for group in &runs.groups {
            counts.ended += u64::from(group.ended);
            counts.open += group.open() as u64;
            counts.failed += group.failed() as u64;
        }
        counts
    }

    fn text(&self, columns: usize) -> String {
        let Self {
            all,
            ended,
            open,
            failed,
        } = self;
        let rest = all.saturating_sub(ended + open + failed);
        let bar = bar(*ended, *all, columns);
        format!("{ended}/{all} {bar} {open} open, {failed} failed, {rest} not begun")
    }
}

/// Returns the first texts, and the number of the others.
fn first(mut texts: Vec<String>, most: usize, noun: &str) -> impl Iterator<Item = String> + use<> {
    let more = texts.len().saturating_sub(most);
    if more > 0 {
        texts.truncate(most);
        texts.push(format!("and {more} more {noun}"));
    }
    texts.into_iter()
}
