//! A run in progress: signals, progress lines and the exit code.

use std::io::{self, Write as _};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Session, escape, shortened};
use llm_client::{Clock as _, LedgerFile, SystemClock, Timer};
use logosphere_core::experiment::Experiment;
use logosphere_core::format::Reason;
use logosphere_core::journal::{
    CallError, FailureClass, FileJournal, InterruptCause, MindInvocation, RoundEnd, RunInterrupted,
};
use logosphere_core::verify::state::{RunState, Step};
use logosphere_core::{
    Mind, MindError, MindId, Orchestrator, Progress, Round, RunControl, RunError, RunSummary,
    Settings,
};
use tokio_util::sync::CancellationToken;

use crate::numbers;
use crate::population::LEDGER;
use crate::status::{RunPhase, RunStatus, StatusForm};

/// The type of runs of this program.
pub type FileRun = Orchestrator<Box<dyn Mind>, FileJournal, Arc<dyn Timer>>;

/// The number of answers after which losses are reported, and the share that is reported.
const ENOUGH: u64 = 20;
const MANY: f64 = 0.1;

/// The share of failed calls of a round that is reported.
const FAILED: f64 = 0.2;

/// The seconds between two lines about a call without a reply, without a progress bar.
const EVERY: u64 = 30;
const LABEL: &str = "calls";

/// Returns the controls of a run that signals stop. It is called before anything is written, so that no signal leaves
/// half a run.
pub fn control() -> Result<RunControl, Failure> {
    let cancel = CancellationToken::new();
    let signal = Arc::new(OnceLock::new());
    let (watched, noted) = (cancel.clone(), signal.clone());
    let interrupt = Interrupt::on_signals()?;
    let raised = interrupt.clone();
    interrupt.then(move || {
        if let Some(name) = raised.signal() {
            let _ = noted.set(name);
        }
        watched.cancel();
        // A closed stderr is not a failure.
        let _ = writeln!(
            io::stderr(),
            "logosphere: stopping when the calls in flight have ended, in 10 s at most; a second signal ends at once"
        );
    });
    let mut control = RunControl::default();
    (control.cancel, control.signal) = (cancel, signal);
    Ok(control)
}

/// Runs to the end or to an interruption, and prints the status of the run.
pub fn run_to_end(
    mut run: FileRun,
    experiment: &Experiment,
    form: StatusForm,
    session: &mut Session,
) -> Result<(Exit, RunStatus), Failure> {
    let mut shown = ProgressView::new(run.state());
    let bar = {
        let settings = run.state().settings();
        let calls = settings.n_minds as usize * settings.max_rounds as usize;
        session.progress.bar(LABEL, calls)
    };
    let (round, mind) = run.state().next_call();
    let minds = run.state().settings().n_minds;
    bar.set_position(u64::from(round.before()) * u64::from(minds) + u64::from(mind.0));
    let outcome = bin_support::block_on(run.run(&mut |progress| match progress {
        Progress::Called(call, key) => {
            bar.inc(1);
            bar.set_message(LABEL);
            shown.waited = 0;
            shown.call(call, key);
        }
        Progress::Waiting {
            round,
            mind,
            since,
            attempt,
        } => {
            let waiting = format!(
                "waiting for mind {mind} of round {round} since {} s, attempt {attempt}",
                since.as_secs()
            );
            if bar.is_hidden() {
                if shown.is_worth_a_line(since) {
                    session.status(&waiting);
                }
            } else {
                bar.set_message(waiting);
            }
        }
        Progress::Failed(error) => shown.failure(error),
        Progress::Delayed {
            round,
            mind,
            error,
            wait,
        } => {
            bar.set_message(LABEL);
            session.status(&delayed(round, mind, error, wait));
        }
        Progress::Round(end, state) if form != StatusForm::None => {
            shown.round(end, state, session);
        }
        _ => {}
    }))?;
    drop(bar);
    shown.warn(run.state(), session);
    let journal = experiment.journal();
    let phase = match run.state().next() {
        Step::Done => RunPhase::Ended,
        _ => RunPhase::Stopped,
    };
    let status = RunStatus::new(experiment.path(), &journal, run.state(), phase);
    status.print(form, session)?;
    let directory = escape(&experiment.path().display().to_string());
    let exit = match outcome {
        Ok(RunSummary::Ended { errors, .. }) => {
            if form != StatusForm::None {
                session.status(&format!("next: logosphere report {directory}"));
            }
            if errors == 0 {
                return Ok((Exit::Done, status));
            }
            let calls = if errors == 1 { "call" } else { "calls" };
            let example = shown
                .failed
                .as_deref()
                .unwrap_or("in an earlier part of the run");
            session.warn(&format!(
                "{errors} {calls} failed for good, and their minds were silent; the first {example}"
            ));
            Exit::SomeFailed
        }
        Ok(RunSummary::Interrupted(why)) => {
            session.warn(&stopped(&why, run.state().settings(), experiment));
            if why.cause == InterruptCause::Error {
                Exit::Failed
            } else {
                Exit::Interrupted
            }
        }
        Err(error @ RunError::Leak { .. }) => return Err(Failure::new(Exit::CheckFailed, error)),
        Err(RunError::Request(error)) if error.class == FailureClass::Leak => {
            return Err(Failure::new(Exit::CheckFailed, error));
        }
        Err(error) => {
            if journal.exists() {
                session.warn(&format!(
                    "the answers so far are kept; continue with: logosphere resume {directory}"
                ));
            }
            return Err(error.into());
        }
    };
    Ok((exit, status))
}

/// Returns the line about a call that is made again after a wait.
fn delayed(round: Round, mind: MindId, error: &MindError, wait: Duration) -> String {
    let (error, seconds) = (shortened(&error.to_string(), 200), wait.as_secs());
    format!("mind {mind} of round {round} waits {seconds} s and is called again: {error}")
}

/// Returns why a run stopped, and the command that continues it.
fn stopped(why: &RunInterrupted, settings: &Settings, experiment: &Experiment) -> String {
    let directory = escape(&experiment.path().display().to_string());
    let resume = format!("continue with: logosphere resume {directory}");
    let caps = &settings.caps;
    let max_usd = caps.max_usd.filter(|_| why.detail.contains('$'));
    match (why.cause, max_usd, caps.max_tokens, caps.max_wall) {
        (InterruptCause::Cap, Some(cap), _, _) => {
            let spent = LedgerFile::new(experiment.path().join(LEDGER)).spent();
            let spent =
                spent.map_or_else(|_| String::new(), |spent| format!(" ({} spent)", spent.usd));
            let higher = 2.0 * cap;
            format!("cost cap of ${cap} reached{spent}; {resume} --max-usd {higher}")
        }
        (InterruptCause::Cap, None, Some(cap), _) => {
            let higher = cap.saturating_mul(2);
            format!("token cap of {cap} reached; {resume} --max-tokens {higher}")
        }
        (InterruptCause::Wall, _, _, Some(cap)) => {
            let (seconds, higher) = (cap.as_secs(), cap.as_secs().saturating_mul(2));
            format!("time cap of {seconds} s reached; {resume} --max-wall {higher}")
        }
        _ => format!(
            "stopped before mind {} of round {} ({}); {resume}",
            why.next_mind,
            why.round,
            escape(&why.detail)
        ),
    }
}

/// The progress lines of a run, each printed once.
struct ProgressView {
    clock: SystemClock,
    /// The number of rounds that had ended when this process began.
    before: u32,
    /// The first answer that was lost, with its reason.
    lost: Option<String>,
    /// The first call that failed.
    failed: Option<String>,
    warned: bool,
    /// Whether a round with many failed calls was reported.
    warned_of_failures: bool,
    /// The number of lines that were printed about the current call.
    waited: u64,
}

impl ProgressView {
    fn new(state: &RunState) -> Self {
        Self {
            clock: SystemClock::new(),
            before: state.next_call().0.before(),
            lost: None,
            failed: None,
            warned: false,
            warned_of_failures: false,
            waited: 0,
        }
    }

    /// Returns whether the next line about a waiting call is due.
    fn is_worth_a_line(&mut self, since: Duration) -> bool {
        let lines = since.as_secs() / EVERY;
        let is_due = lines > self.waited;
        self.waited = lines;
        is_due
    }

    fn failure(&mut self, error: &CallError) {
        self.failed.get_or_insert_with(|| {
            let CallError {
                round,
                mind_id,
                class,
                message,
                ..
            } = error;
            let message = shortened(message, 200);
            format!("was mind {mind_id} in round {round}: {class}: {message}")
        });
    }

    /// Records a lost answer. `reason` is the reason of the loss.
    fn call(&mut self, call: &MindInvocation, reason: Reason) {
        if reason.is_loss() && self.lost.is_none() {
            let text = shortened(&call.raw_output, 120);
            self.lost = Some(format!("{reason} in round {}: {text}", call.round));
        }
        if !call.parse.notes.is_empty() || reason.is_loss() {
            tracing::debug!(round = %call.round, mind = %call.mind_id, %reason, notes = ?call.parse.notes, "answer");
        }
    }

    fn round(&mut self, end: &RoundEnd, state: &RunState, session: &Session) {
        let rounds = state.settings().max_rounds;
        let done = f64::from(end.round.0.saturating_sub(self.before));
        let left = f64::from(rounds.saturating_sub(end.round.0));
        let seconds = self.clock.elapsed().as_secs_f64() / done.max(1.0) * left;
        let cost = state
            .cost()
            .map(|usd| format!("  {usd}"))
            .unwrap_or_default();
        session.status(&format!(
            "round {}/{rounds}  messages +{}  pool {}  protocol {}{cost}  eta {}",
            end.round,
            end.messages_added,
            state.pool().len(),
            end.protocol,
            numbers::time(seconds)
        ));
        self.warn(state, session);
        self.warn_of_failures(end, state, session);
    }

    /// Prints once that many calls of a round failed: the minds that were not answered are missing from the data.
    fn warn_of_failures(&mut self, end: &RoundEnd, state: &RunState, session: &Session) {
        let failed = end.protocol.by_reason.get(&Reason::CallFailed);
        let failed = failed.copied().unwrap_or_default();
        let minds = state.settings().n_minds;
        if self.warned_of_failures || failed as f64 <= FAILED * f64::from(minds) {
            return;
        }
        self.warned_of_failures = true;
        let first = (self.failed.as_deref()).unwrap_or("in an earlier part of the run");
        session.warn(&format!(
            "{failed} of {minds} calls of round {} failed, and their minds were silent; the first {first}; \
             --on-error wait calls again instead",
            end.round
        ));
    }

    /// Prints once that many answers are lost, with the most frequent reason and an example.
    fn warn(&mut self, state: &RunState, session: &Session) {
        let protocol = state.protocol();
        let answers = protocol.compliant + protocol.tolerated + protocol.lost;
        if self.warned || answers < ENOUGH || protocol.lost as f64 <= MANY * answers as f64 {
            return;
        }
        self.warned = true;
        if let Some((reason, count)) = protocol.losses().first() {
            let example = self
                .lost
                .as_deref()
                .unwrap_or("in an earlier part of the run");
            session.warn(&format!(
                "{} of {answers} answers were lost because of their form, most ({count}) as {reason}; for example {example}",
                protocol.lost
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l16_without_a_bar_a_call_that_is_waited_for_has_a_line_every_half_minute() {
        let mut shown = ProgressView {
            clock: SystemClock::new(),
            before: 0,
            lost: None,
            failed: None,
            warned: false,
            warned_of_failures: false,
            waited: 0,
        };
        let lines = |shown: &mut ProgressView, seconds: u64| {
            let due =
                (1..=seconds).filter(|second| shown.is_worth_a_line(Duration::from_secs(*second)));
            due.collect::<Vec<_>>()
        };
        assert_eq!(lines(&mut shown, 100), [30, 60, 90]);
        shown.waited = 0;
        assert!(lines(&mut shown, 29).is_empty());
    }
}
