use crate::config::OnError;
use crate::format::Reason;
use crate::journal::{CallError, Event, InterruptCause, MindInvocation, may_pass};
use crate::verify::state::{RunState, StateError, Step};

/// The rules for the events of one process, in addition to those of the run's state.
#[derive(Debug, Default)]
pub(super) enum Process {
    /// The process works.
    #[default]
    Working,
    /// The process or the fork has begun, and no call was made since: changes from outside may come.
    Begun,
    /// A call has failed: its event comes next, or the call stops the run.
    Failed { error: CallError, stops: bool },
    /// The process was interrupted: only another process continues.
    Interrupted,
}

impl Process {
    /// Checks whether an event may come next. A journal may end after any event, and another process may continue from
    /// there.
    pub fn allows(&self, event: &Event, state: &RunState) -> Result<(), StateError> {
        let expected = |expected: &str| {
            Err(StateError::Order {
                expected: expected.to_owned(),
                found: event.kind(),
            })
        };
        if matches!(event, Event::Intervention(_)) && !matches!(self, Self::Begun) {
            return expected("run_resumed, forked or another intervention before an intervention");
        }
        match (self, event) {
            // What failed next may have been the journal.
            (Self::Failed { .. }, Event::RunInterrupted(why))
                if why.cause == InterruptCause::Error => {}
            (
                Self::Failed {
                    stops: false,
                    error,
                },
                Event::MindInvocation(call),
            ) if is_failure_of(call, error) => {}
            (Self::Failed { .. } | Self::Interrupted, Event::RunResumed(_)) => {}
            (Self::Failed { stops: true, .. }, _) => {
                return expected("run_interrupted by the error before it");
            }
            (Self::Failed { stops: false, .. }, _) => {
                return expected(
                    "the failed mind_invocation of the error before it, with its attempts",
                );
            }
            (Self::Interrupted, _) => return expected("run_resumed, or nothing,"),
            (Self::Working | Self::Begun, Event::MindInvocation(call))
                if call.parse.reason == Reason::CallFailed =>
            {
                return expected("the error of the failed mind_invocation");
            }
            (Self::Working | Self::Begun, Event::Error(error))
                if state.settings().on_error == OnError::Wait
                    && may_pass(error.class, error.fatal) =>
            {
                return expected("no error, because on_error wait makes such a call again,");
            }
            (Self::Working | Self::Begun, _) => {}
        }
        match event {
            Event::RunInterrupted(_) if state.next() == Step::Done => {
                expected("run_resumed, or nothing,")
            }
            Event::RunInterrupted(why) if !why.resumable => {
                expected("a run_interrupted that is resumable")
            }
            _ => Ok(()),
        }
    }

    /// Applies an allowed event.
    pub fn take(&mut self, event: &Event, state: &RunState) {
        *self = match event {
            Event::RunInterrupted(_) => Self::Interrupted,
            Event::RunResumed(_) | Event::Forked(_) | Event::Intervention(_) => Self::Begun,
            Event::Error(error) => Self::Failed {
                stops: error.fatal
                    || state.settings().on_error == OnError::Stop
                    || state.is_failing_too_often(),
                error: error.clone(),
            },
            _ => Self::Working,
        };
    }
}

fn is_failure_of(call: &MindInvocation, error: &CallError) -> bool {
    call.parse.reason == Reason::CallFailed
        && (call.round, call.mind_id) == (error.round, error.mind_id)
        && call.attempts == error.attempts
}
