//! Language models behind `llm-client` as minds.

use async_trait::async_trait;
use llm_client::{Block, Client, Error, Request, Sampling, StopReason};

use crate::mind::TokenUse;
use crate::{AttemptFacts, Mind, MindError, MindInput, MindReply, Side, WireRequest};

/// Asks a model through a client, with all of the client's layers: retries, budget, record and replay.
///
/// The client must send neither a count of retries nor anything else that differs from call to call
/// ([`llm_client::RetryPolicy::send_count`] off): the run would refuse to go on.
pub struct LlmMind {
    client: Client,
    label: String,
}

impl LlmMind {
    /// Minds that are asked through `client`; `label` names the provider in the journal.
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

    async fn respond(&self, input: &MindInput, side: &Side) -> Result<MindReply, MindError> {
        let request = Request {
            replay_key: Some(side.call_key().to_owned()),
            ..wire(input)
        };
        let reply = self.client.complete(&request).await;
        let reply = reply.map_err(|error| mind_error(&error))?;
        let usage = &reply.usage;
        Ok(MindReply {
            text: reply.text(),
            model: reply.model.clone(),
            finish_reason: Some(finish_reason(&reply.stop)),
            tokens: TokenUse {
                prompt: usage.prompt(),
                completion: usage.output,
                reasoning: usage.thinking,
                cached: usage.cache_read,
                estimated: !usage.known,
            },
            cost_nanos: reply.cost.usd.map(|usd| usd.0),
            attempts: reply.attempts.iter().map(attempt).collect(),
        })
    }
}

fn wire(input: &MindInput) -> Request {
    let (prompt, model) = (input.prompt(), input.model());
    let options = &model.options;
    Request {
        system: prompt.system().map(Block::text).into_iter().collect(),
        max_tokens: Some(model.token_limit),
        effort: options.reasoning.clone(),
        sampling: Sampling {
            temperature: options.temperature,
            top_p: options.top_p,
            top_k: None,
            seed: options.seed,
        },
        ..Request::new(&model.model, prompt.user())
    }
}

fn attempt(attempt: &llm_client::Attempt) -> AttemptFacts {
    let ms =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    AttemptFacts {
        n: attempt.n,
        status: attempt.status,
        class: attempt.class.map(|class| class.to_string()),
        wait_ms: ms(attempt.wait),
        latency_ms: ms(attempt.latency),
    }
}

fn finish_reason(reason: &StopReason) -> String {
    let word = match reason {
        StopReason::EndTurn => "end_turn",
        StopReason::StopSequence(_) => "stop_sequence",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::PauseTurn => "pause_turn",
        StopReason::Refusal => "refusal",
        StopReason::ContextWindow => "context_window",
        StopReason::ContentFilter => "content_filter",
        StopReason::Error => "error",
        StopReason::Other(word) => word,
        _ => "unknown",
    };
    word.to_owned()
}

fn mind_error(error: &Error) -> MindError {
    let class = error.class().as_str();
    MindError {
        class: class.to_owned(),
        message: error.message(),
        fatal: matches!(
            class,
            "auth"
                | "quota"
                | "model_unavailable"
                | "bad_request"
                | "replay_miss"
                | "cassette"
                | "price_unknown"
        ),
        attempts: error.attempts().iter().map(attempt).collect(),
    }
}
