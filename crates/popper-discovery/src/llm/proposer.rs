//! The proposer that calls a model, one call at a time.

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
use crate::snapshot::{LoopConfig, Proposal, Proposer, Snapshot, Step, StoredLaws};
use crate::store::{ModelCallRow, UsageRow};

/// Laws that are read, as a multiple of the requested number; further ones are only counted.
const SURPLUS: usize = 10;
/// The most bytes of an invalid reply that a repair turn quotes.
const MAX_ECHO: usize = 64 << 10;

/// The options of the proposer. They affect the prompts, so they must stay the same for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LlmOptions {
    /// Whether the model sees neutral symbols and names.
    pub blind: bool,
    /// The random seed of the mask.
    pub seed: u64,
    /// Repair turns: calls that tell the model the problem with its reply.
    pub repairs: u32,
    /// The longest reply in tokens, at least 1.
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
    /// Returns the options of a run's configuration, so that a run continues with its options. `seed` is the harness's.
    pub fn of(config: &LoopConfig, seed: u64) -> Self {
        Self {
            blind: config.blind,
            seed,
            repairs: config.repairs,
            ..Self::default()
        }
    }
}

/// A proposer that asks a language model for laws.
///
/// It keeps no state between two calls: the prompt is a function of the snapshot, a repair conversation one of the stored
/// calls. So a run that was killed sends the same bytes as an undisturbed one, and a stored reply is not requested again.
#[derive(Clone)]
pub struct LlmProposer {
    client: Client,
    model: String,
    options: LlmOptions,
}

impl LlmProposer {
    /// The default model.
    pub const DEFAULT_MODEL: &str = "claude-opus-5-5";
    /// The default limit of a reply in tokens, enough for twenty laws and the thinking.
    pub const MAX_TOKENS: u32 = 20_000;

    /// Returns a proposer that calls `model` through `client`.
    pub fn new(client: Client, model: impl Into<String>, options: LlmOptions) -> Self {
        Self {
            client,
            model: model.into(),
            options,
        }
    }

    /// Returns the mask for a universe.
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
                // Another reply would be cut, too, so the complete laws of this one are used.
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

    /// Returns the request of the next turn.
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
        // The key of the turn, by which a cassette finds the reply.
        request.replay_key = Some(format!(
            "popper iteration {} turn {}",
            snapshot.iteration,
            calls.len()
        ));
        for call in calls {
            // The quoted reply and problem are the model's own words, so they are not scanned for leaks.
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
    /// Returns the model's id.
    fn id(&self) -> &str {
        &self.model
    }

    /// Calls the model once and returns [`Step::Called`] if there is no call yet, or if the last reply cannot be parsed and repair
    /// turns are left. Otherwise parses the last reply. `ModelCallRow::request_json` is the body of the request as it is sent, and
    /// `ModelCallRow::prompt_hash` its sha256.
    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        calls: &'a [ModelCallRow],
        _: &'a mut dyn StoredLaws,
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
        ..Proposal::default()
    }
}

/// Returns the proposal if no reply has the requested form: the complete laws of the latest reply that has any, and the
/// text after them as one invalid proposal.
fn salvaged(calls: &[ModelCallRow], limit: usize, mask: &SymbolMask) -> Proposal {
    let readings = calls
        .iter()
        .map(|call| (call, ParsedReply::of(&call.reply_text, limit)));
    // `max_by_key` returns the last of equal readings.
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

/// Returns the reply as the model's own turn. A reply longer than [`MAX_ECHO`] is cut.
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
