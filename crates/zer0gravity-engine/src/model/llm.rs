//! Language models through `llm-client`.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_client::{
    Block, Client, CountSource, Error, ErrorClass, ErrorKind, Message, OutputFormat, Request,
    Sampling, StopReason,
};
use serde_json::{Map, Value};

use crate::model::{
    CallFacts, CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, Repeat, TokenCount,
};
use crate::prompts::{PromptMessage, Role, Turn};
use crate::{FailureKind, ModelClient, TokenUse};

/// Asks a model through a client, with all of the client's layers: retries, budget, record and replay.
pub struct LlmModelClient {
    client: Client,
    label: ModelLabel,
}

impl LlmModelClient {
    /// Asks through `client`; `label` names its provider and server.
    pub fn new(client: Client, label: ModelLabel) -> Self {
        Self { client, label }
    }

    /// Checks that `client` would send a temperature to `model`; nothing is sent.
    ///
    /// # Errors
    /// The table of models says that the model takes none, or the client cannot make a request for it.
    pub fn ensure_takes(client: &Client, model: &str, temperature: f64) -> Result<(), ModelError> {
        let sampling = Sampling::default().temperature(Some(temperature));
        let prepared = client.prepare(&Request::new(model, "a").sampling(sampling));
        let prepared = prepared.map_err(|error| model_error(&error))?;
        let body: Map<String, Value> = serde_json::from_slice(&prepared.body).unwrap_or_default();
        if body.contains_key("temperature") {
            return Ok(());
        }
        // The client would leave it out, and results would name a temperature that no model had.
        Err(ModelError::unsent(
            FailureKind::TemperatureRefused,
            format!("{model} takes no temperature, found {temperature}"),
        ))
    }
}

impl ModelClient for LlmModelClient {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        async move {
            if request.role == Role::OwnProgram {
                let cause = "this client runs no programs";
                return Err(ModelError::unsent(FailureKind::Program, cause));
            }
            if let Some(temperature) = request.temperature {
                Self::ensure_takes(&self.client, &request.model, temperature)?;
            }
            let request = wire(request);
            let reply = self.client.complete(&request).await;
            let reply = reply.map_err(|error| reply_error(&error, &request))?;
            let usage = reply.usage.known.then(|| TokenUse {
                input: reply.usage.prompt(),
                output: reply.usage.output,
            });
            Ok(ModelReply {
                text: reply.text(),
                stop: stop(reply.stop),
                usage,
                cost: reply.cost.usd,
                call: facts(reply.attempts.len()),
            })
        }
        .boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        async move {
            let request = Request::new(request.model, request.text);
            let count = self.client.count_tokens(&request).await;
            let count = count.map_err(|error| match error.kind() {
                // The protocol has no counts, and the client is not to guess.
                ErrorKind::Refused { .. } => {
                    ModelError::unsent(FailureKind::NoExactCount, error.message())
                }
                _ => model_error(&error),
            })?;
            let inexact = |reason| ModelError {
                call: facts(1),
                ..ModelError::unsent(FailureKind::NoExactCount, reason)
            };
            match count.source {
                CountSource::Exact => Ok(TokenCount {
                    tokens: count.tokens,
                    call: facts(1),
                }),
                // A guess of the client is no better than ours, and not of the same kind.
                CountSource::Estimate { reason, .. } => Err(inexact(reason)),
                source => Err(inexact(format!("the count is not exact: {source:?}"))),
            }
        }
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        self.label.clone()
    }
}

fn wire(request: ModelRequest) -> Request {
    let prompt = request.prompt;
    let format = |schema| OutputFormat::new("judgement", schema, true);
    Request::default()
        .model(request.model)
        .system(vec![Block::text(prompt.system)])
        .messages(prompt.messages.into_iter().map(message).collect())
        .max_tokens(Some(prompt.max_tokens))
        .sampling(Sampling::default().temperature(request.temperature))
        .format(prompt.json_schema.map(format))
        .replay_key(Some(replay_key(request.role, &request.repeat)))
}

fn message(message: PromptMessage) -> Message {
    match message.role {
        Turn::User => Message::user(message.content),
        Turn::Assistant => Message::assistant(message.content),
    }
}

/// The role and the repeat numbers, in one order, which distinguish equal requests of a run in a cassette.
fn replay_key(role: Role, repeat: &Repeat) -> String {
    let name = match role {
        Role::Encoder => "encode",
        Role::Decoder => "decode",
        Role::SemanticJudge => "judge_semantic",
        Role::ImplementabilityJudge => "judge_implementability",
        Role::OwnJudge => "judge_own",
        Role::OwnProgram => "program",
        Role::Executor => "execute",
        Role::MeasureEncoder => "measure_encoder",
        Role::MeasureDecoder => "measure_decoder",
    };
    let Repeat {
        encoding,
        case,
        trial,
        decode,
        sample,
        ask,
    } = repeat;
    let words = [("encoding", encoding), ("case", case)]
        .into_iter()
        .filter_map(|(name, word)| Some(format!(" {name}={}", word.as_ref()?)));
    let numbers = [
        ("trial", trial),
        ("decode", decode),
        ("sample", sample),
        ("ask", ask),
    ];
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, number)| Some(format!(" {name}={}", number.as_ref()?)));
    words
        .chain(numbers)
        .fold(name.to_owned(), |key, part| key + &part)
}

/// The reason as records have it: a word alone for reasons that end no text.
fn stop(reason: StopReason) -> StopReason {
    match reason {
        StopReason::EndTurn
        | StopReason::MaxTokens
        | StopReason::ContextWindow
        | StopReason::Refusal
        | StopReason::ContentFilter => reason,
        other => StopReason::Other(other.as_str().to_owned()),
    }
}

fn model_error(error: &Error) -> ModelError {
    // The end of batches; a call that was under way has an attempt.
    if error.class() == ErrorClass::Cancelled && error.attempts().is_empty() {
        let cause = "the run was interrupted";
        return ModelError::unsent(FailureKind::Interrupted, cause).stopped(true);
    }
    ModelError {
        status: error.status(),
        call: facts(error.attempts().len()),
        ..ModelError::unsent(error.class(), error.message())
    }
}

/// The error of a call that was to be replied to; that of a server that names the temperature of the request is about all calls.
fn reply_error(error: &Error, request: &Request) -> ModelError {
    let refused = request.sampling.temperature.filter(|_| {
        error.class() == ErrorClass::BadRequest
            && matches!(error.status(), Some(400 | 422))
            && error.message().to_lowercase().contains("temperature")
    });
    let mut failure = model_error(error);
    if let Some(temperature) = refused {
        failure.kind = FailureKind::TemperatureRefused;
        failure.message = format!(
            "{} refuses temperature {temperature}: {}",
            request.model, failure.message
        );
    }
    failure
}

/// The facts of a call without its times, which the store takes.
fn facts(attempts: usize) -> CallFacts {
    CallFacts {
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        ..CallFacts::default()
    }
}
