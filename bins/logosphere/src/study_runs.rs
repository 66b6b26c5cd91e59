//! The runs of a sweep or a fork as they are read while another process makes them.

use std::collections::{BTreeMap, HashSet};
use std::error::Error as StdError;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use llm_client::Usd;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::open_journal;
use logosphere_core::verify::state::{RunState, Step};
use logosphere_core::verify::{GrowingRun, ResumeError};

use crate::many_runs::in_words;
use crate::study_folder::{StudyFolder, StudyPlan};

/// The runs of a study. Of each journal only the bytes that were added are read, and a run that has ended is not looked at again.
#[derive(Default)]
pub struct StudyRuns {
    pub groups: Vec<StudyGroup>,
    /// The totals of the runs that have ended.
    ended: StudyTotals,
    /// The newest call that failed for good: the time of the last event of its run, and its text.
    last_error: Option<(String, String)>,
    /// The group with which reading continues.
    at: usize,
}

/// The runs of a cell or an arm.
#[derive(Default)]
pub struct StudyGroup {
    /// The runs that have a folder, by their number; empty once all have ended.
    runs: BTreeMap<u32, StudyRun>,
    pub ended: u32,
    /// The totals of its runs that have ended.
    totals: StudyTotals,
    has_folder: bool,
}

/// A run that has a folder.
enum StudyRun {
    NotBegun,
    Open(Box<GrowingRun<File>>),
    Ended,
    /// Cannot be read, for this reason. It is read again when its file is another.
    Failed(FileState, Box<str>),
}

/// The size and the time of a file.
type FileState = Option<(u64, Option<SystemTime>)>;

/// The sums over runs.
#[derive(Debug, Clone, Default)]
pub struct StudyTotals {
    pub calls: u64,
    pub failed_calls: u64,
    pub prompt_tokens: u64,
    pub answer_tokens: u64,
    pub cost: Option<Usd>,
    /// The runs with a model whose price is unknown.
    pub unpriced: u64,
    /// Whether a run has a model.
    pub has_model: bool,
}

/// A run that is in progress.
pub struct RunInProgress {
    pub name: String,
    pub round: u32,
    pub max_rounds: u32,
}

impl StudyRuns {
    pub fn new(plan: &StudyPlan) -> Self {
        let groups = std::iter::repeat_with(StudyGroup::default);
        Self {
            groups: groups.take(plan.groups()).collect(),
            ..Self::default()
        }
    }

    /// Returns whether the next reading begins with the first group.
    pub fn is_at_start(&self) -> bool {
        self.at == 0
    }

    /// Returns the number of groups that were read since the reading began.
    pub fn read_groups(&self) -> usize {
        self.at
    }

    /// Reads what was added to the runs, for about as long as `limit`. Returns whether all groups were read; otherwise the next call
    /// continues.
    pub fn advance(
        &mut self,
        folder: &StudyFolder,
        plan: &StudyPlan,
        limit: Option<Duration>,
    ) -> bool {
        let begun = Instant::now();
        if self.is_at_start() {
            self.find_groups(folder, plan);
        }
        while self.at < self.groups.len() {
            self.read_group(folder, plan);
            self.at += 1;
            if limit.is_some_and(|limit| begun.elapsed() >= limit) {
                break;
            }
        }
        let is_whole = self.at >= self.groups.len();
        if is_whole {
            self.at = 0;
        }
        is_whole
    }

    /// Finds the groups that have a folder.
    fn find_groups(&mut self, folder: &StudyFolder, plan: &StudyPlan) {
        if self.groups.iter().all(|group| group.has_folder) {
            return;
        }
        let path = folder.group(plan, 0);
        let names: HashSet<_> = names_in(path.parent().unwrap_or(Path::new(""))).collect();
        for (at, group) in self.groups.iter_mut().enumerate() {
            group.has_folder |= names.contains(plan.group(at));
        }
    }

    fn read_group(&mut self, folder: &StudyFolder, plan: &StudyPlan) {
        let at = self.at;
        let group = &mut self.groups[at];
        if !group.has_folder || group.ended >= plan.repeats() {
            return;
        }
        for name in names_in(&folder.group(plan, at)) {
            let number = name
                .strip_prefix('r')
                .and_then(|number| number.parse().ok());
            let number = number.filter(|number| *number < plan.repeats());
            // The runs of an earlier plan are not of this one.
            if let Some(number) = number
                && folder.run(plan, at, number).ends_with(&name)
            {
                group.runs.entry(number).or_insert(StudyRun::NotBegun);
            }
        }
        for (&repeat, run) in &mut group.runs {
            let errors = run.state().map_or(0, |state| state.own_totals().errors);
            run.read(folder, plan, (at, repeat));
            let StudyRun::Open(open) = &*run else {
                continue;
            };
            let state = open.state();
            let time = open.last_event_at();
            if let Some(error) = open
                .last_error()
                .filter(|_| state.own_totals().errors > errors)
                && self
                    .last_error
                    .as_ref()
                    .is_none_or(|(last, _)| last.as_str() <= time)
            {
                let name = name(plan, at, repeat);
                let (mind, round) = (error.mind_id, error.round);
                let text = format!(
                    "{name}: mind {mind} in round {round}: {}: {}",
                    error.class, error.message
                );
                self.last_error = Some((time.to_owned(), text));
            }
            if state.next() == Step::Done {
                group.ended += 1;
                group.totals.add(state);
                self.ended.add(state);
                *run = StudyRun::Ended;
            }
        }
        if group.ended >= plan.repeats() {
            group.runs = BTreeMap::new();
        }
    }

    /// Returns the sums over all runs.
    pub fn totals(&self) -> StudyTotals {
        let mut totals = self.ended.clone();
        for group in &self.groups {
            group.open_states().for_each(|state| totals.add(state));
        }
        totals
    }

    /// Returns the newest call that failed for good.
    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_ref().map(|(_, text)| text.as_str())
    }

    /// Returns the names of the runs that cannot be read, with their reasons.
    pub fn failed(&self, plan: &StudyPlan) -> Vec<(String, &str)> {
        let groups = self.groups.iter().enumerate();
        let failed = groups.flat_map(|(at, group)| {
            group
                .runs
                .iter()
                .filter_map(move |(&repeat, run)| match run {
                    StudyRun::Failed(_, why) => Some((name(plan, at, repeat), &**why)),
                    _ => None,
                })
        });
        failed.collect()
    }

    /// Returns the runs that the process with the lock of the study works on. The locks of runs are not touched, because a lock
    /// that is tried is held for a moment: their files name the process.
    pub fn in_progress(&self, folder: &StudyFolder, plan: &StudyPlan) -> Vec<RunInProgress> {
        let read = |path: &Path| io::read_to_string(open_journal(path)?);
        let holder = |path: &Path| match read(&path.join("logs/lock")) {
            Ok(process) => Some(process),
            Err(error) if error.kind() == ErrorKind::NotFound => Some("none".to_owned()),
            // Some systems let no other process read a file that is locked.
            Err(_) => None,
        };
        let process = holder(folder.path());
        let groups = self.groups.iter().enumerate();
        let open = groups.flat_map(|(at, group)| {
            let runs = group.runs.iter();
            runs.filter_map(move |(&repeat, run)| Some(((at, repeat), run.state()?)))
        });
        let open =
            open.filter(|((at, repeat), _)| holder(&folder.run(plan, *at, *repeat)) == process);
        open.map(|((at, repeat), state)| {
            let settings = state.settings();
            RunInProgress {
                name: name(plan, at, repeat),
                round: state.next_call().0.0.min(settings.max_rounds),
                max_rounds: settings.max_rounds,
            }
        })
        .collect()
    }
}

impl StudyGroup {
    pub fn open(&self) -> usize {
        self.open_states().count()
    }

    pub fn failed(&self) -> usize {
        let runs = self.runs.values();
        runs.filter(|run| matches!(run, StudyRun::Failed(..)))
            .count()
    }

    /// Returns the cost of its runs; `None` if no price is known.
    pub fn cost(&self) -> Option<Usd> {
        let mut totals = self.totals.clone();
        self.open_states().for_each(|state| totals.add(state));
        totals.cost
    }

    fn open_states(&self) -> impl Iterator<Item = &RunState> {
        self.runs.values().filter_map(StudyRun::state)
    }
}

impl StudyRun {
    /// Returns the state of an open run.
    fn state(&self) -> Option<&RunState> {
        match self {
            Self::Open(run) => Some(run.state()),
            _ => None,
        }
    }

    /// Reads what was added.
    fn read(&mut self, folder: &StudyFolder, plan: &StudyPlan, (group, repeat): (usize, u32)) {
        let path = || Experiment::journal_at(&folder.run(plan, group, repeat));
        match self {
            Self::Ended => return,
            Self::Failed(known, _) if *known == file_state(&path()) => return,
            Self::Failed(..) => *self = Self::NotBegun,
            Self::NotBegun | Self::Open(_) => {}
        }
        let failed = |error: &dyn StdError| {
            let why = in_words(error).into_boxed_str();
            Self::Failed(file_state(&path()), why)
        };
        let unreadable = |error: &ResumeError| match error {
            // The file that is there now is read by the next look.
            ResumeError::File { .. } => Self::Failed(None, in_words(error).into_boxed_str()),
            error => failed(error),
        };
        if matches!(self, Self::NotBegun) {
            match GrowingRun::open(&path()) {
                Ok(None) if matches!(plan, StudyPlan::Fork(_)) && path().exists() => {
                    return *self = failed(&ResumeError::NoFork);
                }
                Ok(None) => return,
                Ok(Some(run)) => {
                    let settings = &run.start().effective.settings;
                    if let Err(error) = folder.check(plan, group, repeat, settings) {
                        return *self = failed(&error);
                    }
                    *self = Self::Open(Box::new(run));
                }
                Err(error) => return *self = unreadable(&error),
            }
        }
        if let Self::Open(run) = self
            && let Err(error) = run.advance()
        {
            *self = unreadable(&error);
        }
    }
}

impl StudyTotals {
    /// Adds the calls of a run; those that a fork shares with its parent do not count.
    fn add(&mut self, state: &RunState) {
        let own = state.own_totals();
        self.calls += own.calls;
        self.failed_calls += own.errors;
        self.prompt_tokens = self.prompt_tokens.saturating_add(own.tokens.prompt);
        self.answer_tokens = self.answer_tokens.saturating_add(own.tokens.completion);
        let has_model = !state.settings().is_offline();
        self.has_model |= has_model;
        match own.cost_usd.and_then(Usd::from_dollars) {
            Some(cost) => {
                let total = self.cost.get_or_insert_default();
                *total = total.saturating_add(cost);
            }
            None => self.unpriced += u64::from(has_model && own.calls > 0),
        }
    }
}

fn name(plan: &StudyPlan, group: usize, repeat: u32) -> String {
    match plan {
        StudyPlan::Sweep { .. } => format!("{}/r{repeat:03}", plan.group(group)),
        StudyPlan::Fork(_) => format!("{}/r{repeat:02}", plan.group(group)),
    }
}

fn file_state(path: &Path) -> FileState {
    let found = fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()))
}

/// Returns the names in a folder that are text. A folder that cannot be read has no names.
fn names_in(path: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}
