//! Minds that call a language model through `llm-client`.

use async_trait::async_trait;
use llm_client::{Block, Client, Error, ErrorClass, Request, Sampling, Warning};

use super::Mind;
use super::call::{CallContext, MindError, MindInput, WireRequest};
use crate::journal::{AttemptFacts, MindReply, TokenUse};

/// The largest plausible number of tokens of an answer.
const MOST_COMPLETION: u64 = 10_000_000;
/// The largest plausible number of tokens of a prompt.
const MOST_PROMPT: u64 = 1_000_000_000;
/// The number of bytes per token in an estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// A mind that calls a model through a client, with the client's retries, budget, recording and replay.
///
/// The client must not send a count of retries ([`llm_client::RetryPolicy::send_count`] off) or anything else that differs
/// between calls. Otherwise the run stops at the first such request.
pub struct LlmMind {
    client: Client,
    label: String,
}

impl LlmMind {
    /// Returns minds that call a model through `client`; `label` names the provider in the journal.
    pub fn new(client: Client, label: impl Into<String>) -> Self {
        Self {
            client,
            label: label.into(),
        }
    }
}

#[async_trait]
impl Mind for LlmMind {
    fn label(&self) -> &str {
        &self.label
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        let prepared = self.client.prepare(&wire(input));
        let prepared = prepared.map_err(|error| mind_error(&error))?;
        Ok(WireRequest {
            body: prepared.body.to_vec(),
            headers: prepared.headers,
        })
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        let request = wire(input).replay_key(Some(context.call_key().to_owned()));
        let counter = context.attempt().clone();
        let reply = self.client.complete_counting(&request, counter).await;
        let reply = reply.map_err(|error| mind_error(&error))?;
        let usage = &reply.usage;
        let mut attempts: Vec<_> = reply.attempts.iter().map(attempt).collect();
        let mut tokens = TokenUse {
            prompt: usage.prompt(),
            completion: usage.output,
            reasoning: usage.thinking,
            cached: usage.cache_read,
            estimated: !usage.known,
        };
        let text = reply.text();
        if replace_absurd(&mut tokens, input, &text)
            && let Some(last) = attempts.last_mut()
        {
            last.notes.push("absurd_usage".to_owned());
        }
        let repaired = |warning: &Warning| warning.field == Warning::UTF8_REPAIRED;
        if reply.warnings.iter().any(repaired)
            && let Some(last) = attempts.last_mut()
        {
            last.notes.push(Warning::UTF8_REPAIRED.to_owned());
        }
        Ok(MindReply {
            text,
            model: reply.model.clone(),
            finish_reason: Some(reply.stop.as_str().to_owned()),
            finish_raw: finish_raw(reply.raw.get()),
            tokens,
            cost: reply.cost.usd,
            attempts,
        })
    }
}

/// Replaces impossible counts by estimates from the texts. Returns whether there were any.
fn replace_absurd(tokens: &mut TokenUse, input: &MindInput, answer: &str) -> bool {
    let estimate = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
    let limit = u64::from(input.model().token_limit);
    let mut absurd = false;
    if tokens.completion > MOST_COMPLETION.max(limit.saturating_mul(10)) {
        tokens.completion = estimate(answer.len());
        tokens.reasoning = None;
        absurd = true;
    }
    if tokens.prompt > MOST_PROMPT {
        let prompt = input.prompt();
        let bytes = prompt.user().len() + prompt.system().map_or(0, str::len);
        tokens.prompt = estimate(bytes);
        tokens.cached = 0;
        absurd = true;
    }
    tokens.estimated |= absurd;
    absurd
}

/// Returns the server's word for the end of an answer, from the body of its response.
fn finish_raw(body: &str) -> Option<String> {
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let word = body
        .pointer("/choices/0/finish_reason")
        .or_else(|| body.get("stop_reason"))?;
    word.as_str().map(str::to_owned)
}

fn wire(input: &MindInput) -> Request {
    let (prompt, model) = (input.prompt(), input.model());
    let options = &model.options;
    let sampling = Sampling::default()
        .temperature(options.temperature)
        .top_p(options.top_p)
        .seed(options.seed);
    Request::new(&model.model, prompt.user())
        .system(prompt.system().map(Block::text).into_iter().collect())
        .max_tokens(Some(model.token_limit))
        .effort(options.reasoning.clone())
        .sampling(sampling)
}

fn attempt(attempt: &llm_client::Attempt) -> AttemptFacts {
    let ms =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    AttemptFacts {
        n: attempt.n,
        status: attempt.status,
        class: attempt.class,
        wait_ms: ms(attempt.wait),
        latency_ms: ms(attempt.latency),
        notes: Vec::new(),
    }
}

fn mind_error(error: &Error) -> MindError {
    let class = error.class();
    MindError {
        class: class.into(),
        message: error.message(),
        fatal: is_fatal(class),
        attempts: error.attempts().iter().map(attempt).collect(),
    }
}

/// Returns whether every other call would fail, too. A cap is a separate cause and is not fatal.
fn is_fatal(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Auth
        | ErrorClass::Quota
        | ErrorClass::ModelUnavailable
        | ErrorClass::BadRequest
        | ErrorClass::PriceUnknown
        | ErrorClass::ReplayMiss
        | ErrorClass::Cassette => true,
        ErrorClass::RateLimit
        | ErrorClass::Overloaded
        | ErrorClass::Server
        | ErrorClass::Network
        | ErrorClass::Timeout
        | ErrorClass::BadResponse
        | ErrorClass::Budget
        | ErrorClass::Cancelled => false,
    }
}
