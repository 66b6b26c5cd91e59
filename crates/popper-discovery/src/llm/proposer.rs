//! The proposer that asks a model, one call at a time.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_client::{Client, Error, ErrorKind, Message, Reply, Request};

use super::prompt::Prompt;
use super::prompts;
use super::reading::{ParsedReply, ReplyProblem};
use super::schema;
use super::symbol_mask::SymbolMask;
use crate::discovery::json;
use crate::error::ProposeError;
use crate::rank::Candidate;
use crate::snapshot::{LoopConfig, Proposal, Proposer, Snapshot, Step};
use crate::store::{ModelCallRow, UsageRow};

/// How many times the laws that were asked for are read; what is beyond is only counted.
const SURPLUS: usize = 10;
/// The most bytes of a broken answer that a repair quotes back.
const MAX_ECHO: usize = 64 << 10;

/// How a model is asked. All of it goes into the prompts, so it must stay the same for the length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlmOptions {
    /// Whether symbols and names are disguised.
    pub blind: bool,
    /// Where the mask comes from.
    pub seed: u64,
    /// Turns that tell the model what is wrong with its answer.
    pub repairs: u32,
    /// The longest answer in tokens, at least 1.
    pub max_tokens: u32,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            blind: true,
            seed: 0,
            repairs: 2,
            max_tokens: LlmProposer::MAX_TOKENS,
        }
    }
}

impl LlmOptions {
    /// What the configuration of a run says, so that a run is continued as it was begun. `seed` is the harness's.
    pub fn of(config: &LoopConfig, seed: u64) -> Self {
        Self {
            blind: config.blind,
            seed,
            repairs: config.repairs,
            ..Self::default()
        }
    }
}

/// Asks a language model for laws.
///
/// It keeps nothing between two calls: the prompt is a function of the snapshot, the conversation of a repair one of the stored
/// calls. So a run that was killed sends the bytes that it would have sent, and an answer that is stored is not asked for again.
#[derive(Clone)]
pub struct LlmProposer {
    client: Client,
    model: String,
    options: LlmOptions,
}

impl LlmProposer {
    /// The model that is asked where none is named.
    pub const DEFAULT_MODEL: &str = "claude-opus-5-5";
    /// The longest answer in tokens where nothing is said: room for twenty laws and for thinking about them.
    pub const MAX_TOKENS: u32 = 20_000;

    /// Asks `model` through `client`.
    pub fn new(client: Client, model: impl Into<String>, options: LlmOptions) -> Self {
        Self {
            client,
            model: model.into(),
            options,
        }
    }

    /// The mask of the runs of this proposer in a universe.
    fn mask(&self, snapshot: &Snapshot) -> SymbolMask {
        if self.options.blind {
            SymbolMask::blind(
                &snapshot.contract,
                &snapshot.capabilities,
                self.options.seed,
            )
        } else {
            SymbolMask::open()
        }
    }

    async fn step(
        &self,
        snapshot: &Snapshot,
        k: usize,
        calls: &[ModelCallRow],
    ) -> Result<Step, ProposeError> {
        let mask = self.mask(snapshot);
        let limit = k.saturating_mul(SURPLUS);
        if let Some(last) = calls.last() {
            let reading = ParsedReply::of(&last.reply_text, limit);
            let is_last_turn = calls.len() > self.options.repairs as usize;
            match &reading.fault {
                None => return Ok(Step::Proposed(proposal(calls, &reading, &mask))),
                // A cut answer would be cut again, and its whole laws are as good as any.
                Some(fault) if fault.is_cut && !reading.laws.is_empty() => {
                    return Ok(Step::Proposed(proposal(calls, &reading, &mask)));
                }
                Some(_) if is_last_turn => {
                    return Ok(Step::Proposed(salvaged(calls, limit, &mask)));
                }
                Some(_) => {}
            }
        }
        let request = self.request(snapshot, k, calls, &mask)?;
        self.ask(&request)
            .await
            .map(|call| Step::Called(Box::new(call)))
    }

    /// The request of the next turn.
    fn request(
        &self,
        snapshot: &Snapshot,
        k: usize,
        calls: &[ModelCallRow],
        mask: &SymbolMask,
    ) -> Result<Request, ProposeError> {
        let prompt = Prompt::new(snapshot, k, mask);
        let schema = schema::answer(&snapshot.capabilities);
        prompt.check(&schema, mask)?;
        let mut request = prompt.request(&self.model).with_schema(schema);
        request.max_tokens = Some(self.options.max_tokens);
        // Names the turn, so that a cassette finds it whatever else was recorded.
        request.replay_key = Some(format!(
            "popper iteration {} turn {}",
            snapshot.iteration,
            calls.len()
        ));
        for call in calls {
            // What is quoted here, the answer and the place of its fault, are the model's own words and not scanned.
            let fault = ParsedReply::of(&call.reply_text, 0).fault;
            request
                .messages
                .push(Message::assistant(echo(&call.reply_text)));
            request
                .messages
                .push(Message::user(complaint(fault.as_ref())));
        }
        Ok(request)
    }

    async fn ask(&self, request: &Request) -> Result<ModelCallRow, ProposeError> {
        let prepared = self.client.prepare(request).map_err(failed)?;
        let reply = self.client.complete(request).await.map_err(failed)?;
        Ok(ModelCallRow {
            model_id: reply.model.clone(),
            prompt_hash: prepared.sha256,
            request_json: String::from_utf8_lossy(&prepared.body).into_owned(),
            reply_text: reply.text(),
            usage_json: json(&usage(&reply)),
        })
    }
}

impl Proposer for LlmProposer {
    /// The model's id.
    fn id(&self) -> &str {
        &self.model
    }

    /// With no calls, or with a last one that cannot be read while repairs are left, asks the model once and answers
    /// [`Step::Called`]; else reads the last one. `ModelCallRow::prompt_hash` is the sha256 of the request's body as it goes over the
    /// wire, which is `ModelCallRow::request_json`.
    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        calls: &'a [ModelCallRow],
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        self.step(snapshot, k, calls).boxed()
    }
}

fn proposal(calls: &[ModelCallRow], reading: &ParsedReply<'_>, mask: &SymbolMask) -> Proposal {
    Proposal {
        candidates: reading.candidates(mask),
        prompt_hash: calls.first().map(|call| call.prompt_hash.clone()),
        research_log: reading.log.clone(),
        problem: reading.problem(),
    }
}

/// What is left when no answer was of the form that was asked for: the whole laws of the latest answer that has any, and what
/// stands behind them as one that cannot be read.
fn salvaged(calls: &[ModelCallRow], limit: usize, mask: &SymbolMask) -> Proposal {
    let readings = calls
        .iter()
        .map(|call| (call, ParsedReply::of(&call.reply_text, limit)));
    // Of equals the last one counts.
    let best = readings.max_by_key(|(_, reading)| !reading.laws.is_empty());
    let Some((call, reading)) = best else {
        return Proposal::default();
    };
    let mut proposal = proposal(calls, &reading, mask);
    let why = reading
        .fault
        .as_ref()
        .map_or("cannot be read", |fault| &fault.what);
    proposal.candidates.push(Candidate {
        raw: reading.rest(&call.reply_text).to_owned(),
        law: Err(why.to_owned()),
    });
    proposal
}

/// The answer as the model's own turn. A very long one is cut: the model need not read megabytes to answer again.
fn echo(reply: &str) -> String {
    if reply.trim().is_empty() {
        return "(no text)".to_owned();
    }
    let end = reply.floor_char_boundary(MAX_ECHO);
    if end == reply.len() {
        reply.to_owned()
    } else {
        format!("{} (and {} bytes more)", &reply[..end], reply.len() - end)
    }
}

fn complaint(fault: Option<&ReplyProblem>) -> String {
    let what = fault.map_or("it cannot be read", |fault| &fault.what);
    prompts::REPAIR.fill(&[("error", what)])
}

fn usage(reply: &Reply) -> UsageRow {
    let known = |tokens| reply.usage.known.then_some(tokens);
    UsageRow {
        input_tokens: known(reply.usage.prompt()),
        output_tokens: known(reply.usage.output),
        nano_usd: reply.cost.usd.map(|usd| usd.0),
    }
}

fn failed(error: Error) -> ProposeError {
    match error.kind() {
        ErrorKind::BudgetExceeded { .. } | ErrorKind::PriceUnknown { .. } => {
            ProposeError::Budget(Box::new(error))
        }
        ErrorKind::Refused { .. } => ProposeError::Refused(Box::new(error)),
        _ => ProposeError::Unavailable(Box::new(error)),
    }
}
