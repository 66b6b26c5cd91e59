//! The boot: a kept face is restored, or the model is called for one.

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::config::UsageTotals;
use crate::conversation::{self, ConversationRecord, Utterance, window};
use crate::dispatch::TurnContext;
use crate::faces::{Mounted, ShellError};
use crate::prompt::{BOOT_MESSAGE, Phase, Running};
use crate::turn::{Turn, TurnMessages, TurnSettings};
use crate::{Event, EventSink, Face, KernelError, TurnReport};

/// The result of a boot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BootReport {
    /// The revision of the restored shell; `None` if no shell was restored.
    pub restored: Option<u64>,
    /// The revision of the shell that is the face.
    pub shell: Option<u64>,
    /// The first text for the person.
    pub greeting: String,
    /// The number of requests.
    pub rounds: u32,
    /// The usage of these requests.
    pub usage: UsageTotals,
    /// The model that answers.
    pub model: String,
    /// The name of what answers in place of a model; `None` if a model answers.
    pub offline: Option<String>,
    /// The reason for the host's safe face; `None` if the model's face is shown.
    pub safe_face: Option<SafeFace>,
    /// Lines for the person about the start.
    pub notices: Vec<String>,
}

/// The reason for the host's safe face.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SafeFace {
    /// The reason in one line.
    pub reason: String,
    /// The errors of the last shell.
    pub errors: Vec<ShellError>,
}

/// The first line if the model only sends a face.
const GREETING: &str = "The face is up. Say something.";
const TERMINAL_GREETING: &str = "Say something.";

/// A boot under way.
pub(super) struct Boot<'a> {
    context: TurnContext<'a>,
    record: &'a mut ConversationRecord,
    /// Lines for the person.
    notices: Vec<String>,
    events: &'a EventSink,
    cancel: &'a CancellationToken,
}

impl<'a> Boot<'a> {
    pub fn new(
        context: TurnContext<'a>,
        record: &'a mut ConversationRecord,
        notices: Vec<String>,
        events: &'a EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            context,
            record,
            notices,
            events,
            cancel,
        }
    }

    pub async fn run(mut self) -> Result<BootReport, KernelError> {
        let given: Vec<_> = self.record.messages().cloned().collect();
        let kept: Vec<_> = window::sanitise(given).into_kept().collect();
        let is_valid = (self.record.messages()).eq(kept.iter().map(|(_, message)| message));
        if !is_valid {
            if let Err(error) = self.record.repair(kept) {
                self.notices
                    .push(format!("{} cannot be written: {error}", conversation::FILE));
            }
            self.notices
                .push("the last turn was not finished: what had no answer was left out".to_owned());
        }
        if self.context.config.fresh {
            if self.context.config.face == Face::Page {
                self.face_is(None)?;
            }
        } else if let Some(mut report) = self.restore().await? {
            report.notices = self.notices;
            return Ok(report);
        }
        let phase = Phase::Boot {
            running: match self.context.faces.state().shell {
                Some(_) => Running::Restored,
                None => Running::Nothing,
            },
            face: self.context.config.face,
        };
        let settings = TurnSettings::of_conversation(self.context, phase);
        let messages = TurnMessages::of_conversation(self.record);
        let mut turn = Turn::new(self.context, messages, &settings, self.events, self.cancel);
        turn.messages.push(Utterance::kernel(BOOT_MESSAGE));
        let report = match turn.run().await {
            Ok(turn) => turn.report(),
            Err(error) => {
                let info = self.context.brain.info();
                let mut report = report(self.context, String::new(), info.model);
                report.safe_face = Some(SafeFace {
                    reason: error.plain(),
                    errors: Vec::new(),
                });
                self.note_wake(false);
                report.notices = self.notices;
                return Ok(report);
            }
        };
        self.note_wake(report.stopped.is_none());
        Ok(self.booted(report))
    }

    /// Notes whether the model answered the boot, if that has changed.
    fn note_wake(&mut self, woke: bool) {
        if self.context.faces.state().must_wake != woke {
            return;
        }
        if let Err(error) = self
            .context
            .faces
            .change_state(|state| state.must_wake = !woke)
        {
            self.notices
                .push(format!("state.json cannot be written: {error}"));
        }
    }

    fn booted(self, turn: TurnReport) -> BootReport {
        let shell = self.context.faces.state().shell;
        let has_face = self.context.config.face == Face::Terminal || shell.is_some();
        let silent = turn.text.trim().is_empty() || turn.text.starts_with("done: ");
        let greeting = match self.context.config.face {
            _ if !silent => turn.text,
            Face::Page => GREETING.to_owned(),
            Face::Terminal => TERMINAL_GREETING.to_owned(),
        };
        let mut report = report(self.context, greeting, turn.model);
        report.rounds = turn.rounds;
        report.usage = turn.usage;
        report.notices = self.notices;
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

    /// Restores a kept shell without a model call. If no kept shell mounts, the host shows its safe face.
    async fn restore(&mut self) -> Result<Option<BootReport>, KernelError> {
        let context = self.context;
        let again = || {
            report(
                context,
                "Here again.".to_owned(),
                context.brain.info().model,
            )
        };
        if self.context.config.face == Face::Terminal {
            let awake = !self.record.is_new() && !self.context.faces.state().must_wake;
            return Ok(awake.then(again));
        }
        let mut failed = None;
        // Shells that need React, which is not here: they are not bad.
        let mut passed = Vec::new();
        // Each shell that fails is marked or passed over, so that this ends.
        while let Some(rev) = self.context.faces.good(&passed) {
            let Err(errors) = self.show_kept(rev).await? else {
                self.events.send(Event::ShellShown { rev });
                let mut report = again();
                report.restored = Some(rev);
                return Ok(Some(report));
            };
            if errors.iter().any(ShellError::is_need) {
                passed.push(rev);
            } else {
                let marked = self.context.faces.mark(rev, Some(false));
                marked.map_err(KernelError::file("shells.json"))?;
            }
            let why = errors.first().map_or("", |error| &error.message);
            self.notices
                .push(format!("face {rev} was not restored: {why}"));
            failed.get_or_insert(errors);
        }
        self.face_is(None)?;
        // The next start would pass them over as well: the model writes one that needs no React.
        if !passed.is_empty() {
            return Ok(None);
        }
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

    /// Shows a kept shell, which is then the face.
    async fn show_kept(&self, rev: u64) -> Result<Result<(), Vec<ShellError>>, KernelError> {
        let faces = self.context.faces;
        let shell = match faces.compile_kept(rev) {
            Ok(shell) => shell,
            Err(errors) => return Ok(Err(errors)),
        };
        // A stop is for the model: what is kept comes up all the same.
        let never = CancellationToken::new();
        let shown = faces.show(shell, &never).await;
        Ok(
            match shown.map_err(KernelError::file("shells.json or state.json"))? {
                Mounted::Yes | Mounted::NoPage | Mounted::Cancelled => Ok(()),
                Mounted::Failed(error) => Err(vec![error]),
            },
        )
    }

    /// Notes which shell is the face.
    fn face_is(&self, rev: Option<u64>) -> Result<(), KernelError> {
        if self.context.faces.state().shell == rev {
            return Ok(());
        }
        self.context
            .faces
            .change_state(|state| state.shell = rev)
            .map_err(KernelError::file("state.json"))
    }
}

/// A report without requests.
fn report(context: TurnContext<'_>, greeting: String, model: String) -> BootReport {
    BootReport {
        restored: None,
        shell: context.faces.state().shell,
        greeting,
        rounds: 0,
        usage: UsageTotals::default(),
        model,
        offline: context.brain.info().offline,
        safe_face: None,
        notices: Vec::new(),
    }
}
