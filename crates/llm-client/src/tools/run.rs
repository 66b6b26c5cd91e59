use std::time::Duration;

use super::turn::Turn;
use super::{Step, Toolbox};
use crate::types::{Cost, Message, Reply, Request, StopReason, ToolChoice, Usage, Usd};
use crate::{Client, Error};

/// How far a tool loop may go. All bounds are checked before the model is asked again, so the tools of the last
/// turn have run and their results are in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBounds {
    /// Replies of the model.
    pub max_turns: u32,
    /// Times the model may pause and be sent on.
    pub max_pauses: u32,
    /// For one run of one tool, by the client's clock.
    pub tool_timeout: Duration,
    /// Tools that run at the same time; 0 is as 1.
    pub parallel: usize,
    /// What the replies may cost together: no further one is asked for once this is reached. A reply of unknown cost
    /// ends the loop with [`Error::PriceUnknown`] then, for the bound could not be kept.
    pub max_usd: Option<Usd>,
}

impl Default for LoopBounds {
    fn default() -> Self {
        Self {
            max_turns: 20,
            max_pauses: 5,
            tool_timeout: Duration::from_mins(2),
            parallel: 8,
            max_usd: None,
        }
    }
}

/// How a tool loop ended by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopOutcome {
    /// The last reply. Look at its `stop`: it may have been cut or be a refusal.
    pub reply: Reply,
    /// The conversation, which can be sent on as it is. It ends with the last reply, unless that one is empty or was
    /// cut with tool calls in it: those must neither be run nor stay without an answer.
    pub history: Vec<Message>,
    /// Replies of the model.
    pub turns: u32,
    /// Tokens of all of them.
    pub usage: Usage,
    /// Money for all of them; unknown if one is.
    pub cost: Cost,
}

/// What a tool loop had reached when it was stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopProgress {
    /// The last reply, if there was one.
    pub last: Option<Reply>,
    /// The conversation, which can be sent on as it is: all calls in it have their results.
    pub history: Vec<Message>,
    /// Replies of the model.
    pub turns: u32,
    /// Tokens of all of them.
    pub usage: Usage,
    /// Money for all of them; unknown if one is.
    pub cost: Cost,
}

/// A tool loop that was stopped.
#[derive(Debug, thiserror::Error)]
#[error("the tool loop stopped after {} turns: {stop}", so_far.turns)]
pub struct LoopError {
    /// Why.
    pub stop: LoopStop,
    /// What it had reached; nothing is lost.
    pub so_far: Box<LoopProgress>,
}

/// Why a tool loop was stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopStop {
    /// [`LoopBounds::max_turns`].
    #[error("the model wants to go on after the {0} turns that are allowed")]
    Turns(u32),
    /// [`LoopBounds::max_pauses`].
    #[error("the model paused more often than the {0} times that are allowed")]
    Pauses(u32),
    /// [`LoopBounds::max_usd`].
    #[error("{spent} are spent of the {cap} that are allowed")]
    Usd {
        /// The bound.
        cap: Usd,
        /// What the replies cost.
        spent: Usd,
    },
    /// The model could not be asked.
    #[error(transparent)]
    Call(#[from] Error),
}

impl Client {
    /// Asks, runs the tools that the model calls, hands their results back, and so on until it calls none.
    ///
    /// The toolbox's tools are added to the request's own, which may be tools of the provider; all functions are run
    /// by the toolbox. A [`ToolChoice`] that forces a call holds until the first call, for the loop could not end.
    ///
    /// Tools run inside of this future: dropping it drops them, and nothing else runs on.
    ///
    /// # Errors
    /// A bound is reached or a call fails. The error keeps the conversation so far.
    pub async fn run_tools(
        &self,
        request: Request,
        toolbox: &dyn Toolbox,
        bounds: LoopBounds,
    ) -> Result<LoopOutcome, LoopError> {
        let own_tools = request.tools.len();
        let mut run = Run::new(request);
        loop {
            if let Err(stop) = run.check(&bounds) {
                return Err(run.stopped(stop));
            }
            if !run.paused {
                run.request.tools.truncate(own_tools);
                run.request.tools.extend(toolbox.specs());
            }
            let reply = match self.complete(&run.request).await {
                Ok(reply) => reply,
                Err(error) => return Err(run.stopped(error.into())),
            };
            run.count(&reply);
            toolbox.on_step(Step::Reply {
                turn: run.turns,
                reply: &reply,
            });
            run.paused = reply.stop == StopReason::PauseTurn;
            run.pauses += u32::from(run.paused);
            let calls = reply.tool_uses().next().is_some();
            if calls && !is_whole(&reply.stop) {
                return Ok(run.ended(reply));
            }
            if !reply.content.is_empty() {
                run.request.messages.push(reply.to_message());
            }
            if calls {
                let turn = Turn {
                    number: run.turns,
                    tools: &run.request.tools,
                    toolbox,
                    clock: &*self.inner.clock,
                    bounds: &bounds,
                };
                let results = turn.answer(&reply).await;
                run.request.messages.push(results);
                run.unforce();
            } else if !run.paused {
                return Ok(run.ended(reply));
            }
            run.last = Some(reply);
        }
    }
}

/// Whether the tool calls of a reply that stops so are whole and meant.
fn is_whole(stop: &StopReason) -> bool {
    matches!(
        stop,
        StopReason::ToolUse | StopReason::PauseTurn | StopReason::EndTurn
    )
}

/// A loop under way.
struct Run {
    /// Its messages are the history.
    request: Request,
    turns: u32,
    pauses: u32,
    paused: bool,
    usage: Usage,
    cost: Cost,
    last: Option<Reply>,
}

impl Run {
    fn new(request: Request) -> Self {
        Self {
            request,
            turns: 0,
            pauses: 0,
            paused: false,
            usage: Usage {
                known: true,
                ..Usage::default()
            },
            cost: Cost::FREE,
            last: None,
        }
    }

    /// Whether the model may be asked once more.
    fn check(&self, bounds: &LoopBounds) -> Result<(), LoopStop> {
        if self.turns >= bounds.max_turns {
            return Err(LoopStop::Turns(bounds.max_turns));
        }
        if self.pauses > bounds.max_pauses {
            return Err(LoopStop::Pauses(bounds.max_pauses));
        }
        match (bounds.max_usd, self.cost.usd) {
            // What is free never reaches a bound, not even one of zero.
            (Some(cap), Some(spent)) if spent >= cap && spent > Usd::ZERO => {
                Err(LoopStop::Usd { cap, spent })
            }
            (Some(_), None) => Err(LoopStop::Call(Error::PriceUnknown {
                model: self.request.model.clone(),
                trail: Box::default(),
            })),
            _ => Ok(()),
        }
    }

    fn count(&mut self, reply: &Reply) {
        self.turns += 1;
        self.usage.add(&reply.usage);
        self.cost = self.cost.plus(&reply.cost);
    }

    fn unforce(&mut self) {
        let choice = &mut self.request.tool_choice;
        if matches!(choice, ToolChoice::Any | ToolChoice::Tool(_)) {
            *choice = ToolChoice::Unset;
        }
    }

    fn ended(self, reply: Reply) -> LoopOutcome {
        LoopOutcome {
            reply,
            history: self.request.messages,
            turns: self.turns,
            usage: self.usage,
            cost: self.cost,
        }
    }

    fn stopped(self, stop: LoopStop) -> LoopError {
        LoopError {
            stop,
            so_far: Box::new(LoopProgress {
                last: self.last,
                history: self.request.messages,
                turns: self.turns,
                usage: self.usage,
                cost: self.cost,
            }),
        }
    }
}
