//! Language models through `llm-client`.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_client::{
    Block, Client, CountSource, Error, ErrorKind, Message, OutputFormat, Request, StopReason,
};

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
}

impl ModelClient for LlmModelClient {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        async move {
            if request.role == Role::OwnProgram {
                let cause = "this client runs no programs";
                return Err(ModelError::unsent(FailureKind::Program, cause));
            }
            let reply = self.client.complete(&wire(request)).await;
            let reply = reply.map_err(|error| model_error(&error))?;
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
    ModelError {
        status: error.status(),
        call: facts(error.attempts().len()),
        ..ModelError::unsent(error.class(), error.message())
    }
}

/// The facts of a call without its times, which the store takes.
fn facts(attempts: usize) -> CallFacts {
    CallFacts {
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        ..CallFacts::default()
    }
}
