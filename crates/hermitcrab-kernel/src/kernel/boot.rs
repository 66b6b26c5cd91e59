//! The start: a face that is kept, or a model that wakes.

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Inner;
use crate::config::Face;
use crate::conversation::{self, window};
use crate::prompt::{BOOT_MESSAGE, Phase, Running};
use crate::turn::Turn;
use crate::{Event, EventSink, KernelError, Mounted, ShellError, Taken, TurnReport, Utterance};

/// What a start came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BootReport {
    /// The shell that was kept and is the face again.
    pub restored: Option<u64>,
    /// The shell that is the face.
    pub shell: Option<u64>,
    /// What the person reads first.
    pub greeting: String,
    /// Requests.
    pub rounds: u32,
    /// What they took.
    pub usage: Taken,
    /// Who answers.
    pub model: String,
    /// Set when no model answers: what does.
    pub offline: Option<String>,
    /// Set when there is no face of the model's: a host shows its own.
    pub safe_face: Option<SafeFace>,
    /// What there is to say of the start.
    pub notices: Vec<String>,
}

/// Why a host shows its own face.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SafeFace {
    /// In one line.
    pub reason: String,
    /// What was wrong with the last shell.
    pub errors: Vec<ShellError>,
}

/// The first line where the model says nothing beside its face.
const GREETING: &str = "The face is up. Say something.";
const TERMINAL_GREETING: &str = "Say something.";

impl Inner {
    pub(crate) async fn boot(
        &self,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BootReport, KernelError> {
        let mut conversation = self.conversation.lock().await;
        let sane = window::sanitise(conversation.messages().cloned().collect());
        let said = conversation.said();
        let sane: Vec<_> = (sane.into_kept())
            .map(|(index, message)| Utterance::new(said[index].by, message))
            .collect();
        let mut notices = self.notices.clone();
        if sane != conversation.said() {
            if let Err(error) = conversation.repair(&self.keeper, sane) {
                notices.push(format!("{} cannot be written: {error}", conversation::FILE));
            }
            notices
                .push("the last turn was not finished: what had no answer was left out".to_owned());
        }
        if self.config.fresh {
            if self.config.face == Face::Page {
                self.face_is(None)?;
            }
        } else if let Some(mut report) = self
            .restore(conversation.is_new(), events, &mut notices)
            .await?
        {
            report.notices = notices;
            return Ok(report);
        }
        let phase = Phase::Boot {
            running: match self.state().shell {
                Some(_) => Running::Restored,
                None => Running::Nothing,
            },
            face: self.config.face,
        };
        let turn = Turn::new(self, &mut conversation, phase, events, cancel);
        let report = match turn.run(vec![Utterance::kernel(BOOT_MESSAGE)]).await {
            Ok(report) => report,
            Err(KernelError::Brain(error)) => {
                let info = self.brain.info();
                let mut report = self.report(String::new(), info.model);
                report.safe_face = Some(SafeFace {
                    reason: error.plain(),
                    errors: Vec::new(),
                });
                self.note_wake(false, &mut notices);
                report.notices = notices;
                return Ok(report);
            }
            Err(error) => return Err(error),
        };
        self.note_wake(report.stopped.is_none(), &mut notices);
        Ok(self.booted(report, notices))
    }

    /// Notes whether the model woke, where that is news.
    fn note_wake(&self, woke: bool, notices: &mut Vec<String>) {
        if self.state().must_wake != woke {
            return;
        }
        if let Err(error) = self.change_state(|state| state.must_wake = !woke) {
            notices.push(format!("state.json cannot be written: {error}"));
        }
    }

    fn booted(&self, turn: TurnReport, notices: Vec<String>) -> BootReport {
        let shell = self.state().shell;
        let has_face = self.config.face == Face::Terminal || shell.is_some();
        let silent = turn.text.trim().is_empty() || turn.text.starts_with("done: ");
        let greeting = match self.config.face {
            _ if !silent => turn.text,
            Face::Page => GREETING.to_owned(),
            Face::Terminal => TERMINAL_GREETING.to_owned(),
        };
        let mut report = self.report(greeting, turn.model);
        report.rounds = turn.rounds;
        report.usage = turn.usage;
        report.notices = notices;
        let reason = turn.stopped.clone();
        if turn.safe_face.is_some() || !has_face {
            report.safe_face = Some(SafeFace {
                reason: reason.unwrap_or_else(|| "the model wrote no face".to_owned()),
                errors: turn.safe_face.unwrap_or_default(),
            });
        } else {
            report.notices.extend(reason);
        }
        report
    }

    fn report(&self, greeting: String, model: String) -> BootReport {
        BootReport {
            restored: None,
            shell: self.state().shell,
            greeting,
            rounds: 0,
            usage: Taken::default(),
            model,
            offline: self.brain.info().offline,
            safe_face: None,
            notices: Vec::new(),
        }
    }

    /// Goes on where the last start was: no model is asked. None of the kept shells may mount; then a host shows its own.
    async fn restore(
        &self,
        is_new: bool,
        events: &EventSink,
        notices: &mut Vec<String>,
    ) -> Result<Option<BootReport>, KernelError> {
        let again = || self.report("Here again.".to_owned(), self.brain.info().model);
        if self.config.face == Face::Terminal {
            let awake = !is_new && !self.state().must_wake;
            return Ok(awake.then(again));
        }
        let mut failed = None;
        // Each shell that fails is marked, so that this ends.
        loop {
            let current = self.state().shell;
            let good = self.shells().good(current).map(|shell| shell.rev);
            let Some(rev) = good else {
                break;
            };
            let shown = self.show_kept(rev).await;
            let mounted = shown.as_ref().map_or(Some(false), |mounted| *mounted);
            (self.shells())
                .mark(&self.keeper, rev, mounted)
                .map_err(KernelError::file("shells.json"))?;
            let Err(errors) = shown else {
                self.face_is(Some(rev))?;
                events.send(Event::ShellShown { rev });
                let mut report = again();
                report.restored = Some(rev);
                return Ok(Some(report));
            };
            let why = errors.first().map_or("", |error| &error.message);
            notices.push(format!("face {rev} was not restored: {why}"));
            failed.get_or_insert(errors);
        }
        self.face_is(None)?;
        Ok(failed.map(|errors| {
            let mut report = again();
            report.safe_face = Some(SafeFace {
                reason: "no kept face can be shown; the next start asks the model for one"
                    .to_owned(),
                errors,
            });
            report
        }))
    }

    /// Shows a kept shell; answers whether it mounted, none if no page is open.
    async fn show_kept(&self, rev: u64) -> Result<Option<bool>, Vec<ShellError>> {
        // A stop is for the model: what is kept comes up all the same.
        let never = CancellationToken::new();
        match self.show(self.compile_kept(rev)?, &never).await {
            Mounted::Yes => Ok(Some(true)),
            Mounted::NoPage | Mounted::Cancelled => Ok(None),
            Mounted::Failed(error) => Err(vec![error]),
        }
    }

    /// Notes which shell is the face.
    fn face_is(&self, rev: Option<u64>) -> Result<(), KernelError> {
        if self.state().shell == rev {
            return Ok(());
        }
        self.change_state(|state| state.shell = rev)
            .map_err(KernelError::file("state.json"))
    }
}
