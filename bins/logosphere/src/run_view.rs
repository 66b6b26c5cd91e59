//! A run in progress as lines for a terminal.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use bin_support::page::RunPhase as WatchPhase;
use bin_support::{Failure, escape};
use jiff::Timestamp;
use llm_client::SystemClock;
use logosphere_core::config::Scheduling;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::{PendingReply, read_spool};
use logosphere_core::measures::lineage::{Lineage, Spreader};
use logosphere_core::measures::metrics::{Metric, Window, measure};
use logosphere_core::verify::GrowingRun;
use logosphere_core::verify::state::Step;
use logosphere_core::{MindId, Round, Settings, Transcript};

use crate::clipped::clipped;
use crate::error::Error;
use crate::journal_file::not_resumable;
use crate::numbers;
use crate::setup::{shown, timestamp};
use crate::status::{RunPhase, RunStatus, is_in_use};

/// The number of rounds of the drawn similarity, of messages with most descendants and of newest messages.
const ROUNDS: usize = 40;
const TEXTS: usize = 3;
/// The number of minds of calls in flight that are named.
const NAMED: usize = 8;
/// The width of the names of lines.
const NAMES: usize = 13;
/// The multiple of the time for measures that passes before they are taken again.
const REST: u32 = 50;
/// The heights of a drawn value, from the lowest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A run that is shown while another process works on it.
pub struct RunView {
    experiment: Experiment,
    clock: SystemClock,
    run: Option<GrowingRun<File>>,
    spool: SpoolView,
    trends: Option<RunTrends>,
}

/// The lines of a run, and whether they are the last ones.
pub struct Frame {
    pub lines: Vec<String>,
    pub phase: WatchPhase,
    /// Whether all was read; otherwise the next frame reads on.
    pub is_whole: bool,
}

/// The spool as it was read last, and the size and time of the file.
#[derive(Default)]
struct SpoolView {
    answers: Vec<PendingReply>,
    file: Option<(u64, Option<SystemTime>)>,
}

/// Measures over the whole run, which take too long for each frame of a long run.
struct RunTrends {
    rounds: usize,
    similarity: Vec<Option<f64>>,
    spreaders: Vec<Spreader>,
    taken_at: Instant,
    cost: Duration,
}

impl RunView {
    /// The run of an experiment, which may not have begun.
    pub fn new(experiment: Experiment) -> Result<Self, Failure> {
        if !experiment.init().exists() && !experiment.logs().exists() {
            let path = experiment.path().to_owned();
            return Err(Failure::usage(Error::NoRun { path }));
        }
        Ok(Self {
            experiment,
            clock: SystemClock::new(),
            run: None,
            spool: SpoolView::default(),
            trends: None,
        })
    }

    /// Reads what was added to the run, and returns its lines, each at most `columns` wide.
    pub fn frame(&mut self, columns: usize) -> Result<Frame, Failure> {
        let journal = self.experiment.journal();
        let failed = |error| not_resumable(error, &journal);
        if self.run.is_none() {
            self.run = GrowingRun::open(&journal).map_err(failed)?;
        }
        let Some(run) = &mut self.run else {
            if !self.experiment.path().is_dir() {
                let path = self.experiment.path().to_owned();
                return Err(Failure::usage(Error::Removed { path }));
            }
            let name = shown(self.experiment.path());
            let waiting = "not begun; waiting for its first event".to_owned();
            let rows = [("experiment", name), ("run", waiting)];
            return Ok(Frame {
                lines: lines(rows, columns),
                phase: WatchPhase::Running,
                is_whole: true,
            });
        };
        let is_in_use = is_in_use(&self.experiment);
        run.advance().map_err(failed)?;
        let phase = RunPhase::of(run.state(), is_in_use);
        if run.state().settings().scheduling == Scheduling::Snapshot {
            self.spool.read(&self.experiment);
        }
        let transcript = run.transcript();
        if self.trends.as_ref().is_none_or(|it| it.is_due(transcript)) {
            self.trends = Some(RunTrends::of(transcript));
        }
        let rows = self.rows(phase, columns);
        Ok(Frame {
            lines: lines(rows, columns),
            phase: match phase {
                RunPhase::Running => WatchPhase::Running,
                RunPhase::Ended => WatchPhase::Finished,
                RunPhase::Stopped => WatchPhase::Stopped(format!(
                    "stopped, not finished; resume with: logosphere resume {}",
                    shown(self.experiment.path())
                )),
            },
            is_whole: true,
        })
    }

    /// Returns the names and texts of all lines.
    fn rows(&self, phase: RunPhase, columns: usize) -> Vec<(&'static str, String)> {
        let (Some(run), Some(trends)) = (&self.run, &self.trends) else {
            return Vec::new();
        };
        let (state, run_of_minds) = (run.state(), run.transcript());
        let settings = state.settings();
        let word = match phase {
            RunPhase::Running => "running",
            RunPhase::Stopped => "stopped",
            RunPhase::Ended => "ended",
        };
        let (round, MindId(call)) = state.next_call();
        let mut rows = vec![
            (
                "experiment",
                format!("{}, {word}", shown(self.experiment.path())),
            ),
            ("settings", of_settings(settings)),
            (
                "rounds",
                rounds(settings, round, call, phase, run.spent_ms(), columns),
            ),
        ];
        if phase == RunPhase::Running {
            rows.extend(self.in_flight().map(|text| ("in flight", text)));
        }
        let status = RunStatus::new(
            self.experiment.path(),
            &self.experiment.journal(),
            state,
            phase,
        );
        let numbers = status.rows().into_iter();
        rows.extend(numbers.filter(|(name, _)| !matches!(*name, "rounds" | "journal")));
        rows.extend(trends.drawn().map(|text| ("similarity", text)));
        let spreaders = trends.spreaders.iter();
        let texts = spreaders.map(|it| format!("{} of {}: {}", it.descendants, it.id, it.text));
        rows.extend(named("descendants", texts));
        let messages = run_of_minds.messages.iter().enumerate().rev().take(TEXTS);
        let messages: Vec<_> = messages
            .map(|(id, it)| format!("{id}: {}", it.text))
            .collect();
        rows.extend(named("newest", messages.into_iter().rev()));
        if let Some(error) = run.last_error() {
            let (mind, round) = (error.mind_id, error.round);
            let text = format!(
                "mind {mind} in round {round}: {}: {}",
                error.class, error.message
            );
            rows.push(("last error", text));
        }
        rows
    }

    /// Returns the calls in flight: one, or those of a snapshot that have neither an event nor an answer in the spool.
    fn in_flight(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        let (state, settings) = (run.state(), run.state().settings());
        let Step::Call { mind } = state.next() else {
            return None;
        };
        let round = state.round();
        let has_answer = |mind: MindId| {
            let mut answers = self.spool.answers.iter();
            answers.any(|it| (it.round, it.mind_id) == (round, mind))
        };
        let waiting = (mind.0..settings.n_minds).map(MindId);
        let minds: Vec<MindId> = match settings.scheduling {
            Scheduling::Sequential => vec![mind],
            Scheduling::Snapshot => (waiting.filter(|mind| !has_answer(*mind)))
                .take(settings.concurrency)
                .collect(),
        };
        let named: Vec<_> = minds.iter().take(NAMED).map(ToString::to_string).collect();
        let more = match minds.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = if minds.len() == 1 { "mind" } else { "minds" };
        let named = format!("{noun} {}{more} of round {round}", named.join(", "));
        let last: Timestamp = run.last_event_at().parse().ok()?;
        let since = (timestamp(&self.clock).as_second() - last.as_second()).max(0);
        let since = numbers::time(since as f64);
        Some(format!("{named}, {since} since the last event"))
    }
}

impl SpoolView {
    /// Reads the spool if its file has changed. A spool that cannot be read has no answers.
    fn read(&mut self, experiment: &Experiment) {
        let path = experiment.spool();
        let found = fs::metadata(&path).ok();
        let file = found.map(|found| (found.len(), found.modified().ok()));
        if self.file != file {
            self.answers = read_spool(&path).unwrap_or_default();
            self.file = file;
        }
    }
}

impl RunTrends {
    fn of(run: &Transcript) -> Self {
        let taken_at = Instant::now();
        let series = measure(run, Window::Active, &[Metric::TfidfSimilarity], None);
        let points = series.iter().flat_map(|series| &series.points);
        let values: Vec<_> = points.map(|point| point.value).collect();
        Self {
            rounds: run.rounds.len(),
            similarity: values[values.len().saturating_sub(ROUNDS)..].to_vec(),
            spreaders: Lineage::of(run).summary(run, TEXTS).top,
            cost: taken_at.elapsed(),
            taken_at,
        }
    }

    /// Returns whether a round ended since, and the measures have rested for a multiple of the time that they take.
    fn is_due(&self, run: &Transcript) -> bool {
        self.rounds != run.rounds.len() && self.taken_at.elapsed() >= self.cost * REST
    }

    /// Returns the similarity of the visible texts, from the lowest value to the highest; `None` without a value.
    fn drawn(&self) -> Option<String> {
        let values = self.similarity.iter().flatten().copied();
        let low = values.clone().min_by(f64::total_cmp)?;
        let high = values.clone().max_by(f64::total_cmp)?;
        let last = values.last()?;
        let height = |value: f64| {
            let share = (value - low) / (high - low).max(0.01);
            HEIGHTS[((share * 8.0) as usize).min(7)]
        };
        let drawn = self.similarity.iter().map(|it| it.map_or(' ', height));
        let drawn: String = drawn.collect();
        Some(format!("{drawn} {last:.3}, from {low:.3} to {high:.3}"))
    }
}

/// Returns the minds and what they read.
fn of_settings(settings: &Settings) -> String {
    let order = match settings.scheduling {
        Scheduling::Sequential => "one after another",
        Scheduling::Snapshot => "all at once",
    };
    let model = match &settings.mind {
        Some(mind) if settings.is_offline() => mind,
        _ => &settings.model,
    };
    format!(
        "{} minds ({}), {order}, reading {} of {}, seed {}",
        settings.n_minds,
        escape(model),
        settings.k_samples,
        settings.m_active_pool,
        settings.seed
    )
}

/// Returns the rounds that ended, with a bar over all calls and the time that is left.
fn rounds(
    settings: &Settings,
    round: Round,
    call: u32,
    phase: RunPhase,
    spent_ms: u64,
    columns: usize,
) -> String {
    let minds = u64::from(settings.n_minds);
    let (done, all) = (
        u64::from(round.before()) * minds + u64::from(call),
        u64::from(settings.max_rounds) * minds,
    );
    let bar = bar(done, all, columns);
    let eta = match (phase, done) {
        (RunPhase::Running, 1..) => {
            let seconds = spent_ms as f64 / 1000.0 / done as f64;
            let left = numbers::time(seconds * all.saturating_sub(done) as f64);
            format!(", eta {left}")
        }
        _ => String::new(),
    };
    let (ended, most) = (round.before(), settings.max_rounds);
    format!("{ended}/{most} {bar} {done} of {all} calls{eta}")
}

/// Returns the share of `done` in `all`, drawn in a quarter of the columns.
pub fn bar(done: u64, all: u64, columns: usize) -> String {
    let width = (columns / 4).clamp(10, 40) as u64;
    let full = done.saturating_mul(width).checked_div(all);
    let full = full.unwrap_or(width).min(width) as usize;
    "█".repeat(full) + &"░".repeat(width as usize - full)
}

/// Names the first of several lines.
pub fn named(
    name: &'static str,
    texts: impl Iterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(texts)
}

/// Returns rows as lines with controls made visible, each at most `columns` wide.
pub fn lines<'a>(rows: impl IntoIterator<Item = (&'a str, String)>, columns: usize) -> Vec<String> {
    let rows = rows.into_iter();
    rows.map(|(name, text)| clipped(&format!("{name:<NAMES$}{text}"), columns))
        .collect()
}
