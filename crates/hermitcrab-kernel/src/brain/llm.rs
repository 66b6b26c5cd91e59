use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use llm_client::{
    CacheMark, Client, Error, ErrorClass, Reply, Request, Spend, StopReason, Thinking, ToolChoice,
    ToolSpec,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::request::{Brain, BrainInfo, BrainReply, BrainRequest, MAX_TOKENS, Tier};
use crate::config::{ModelSpec, Settings, ThinkingMode};
use crate::{BrainError, Event, EventSink};

/// The minimum number of tokens for an answer after a thinking budget.
const ANSWER_AFTER_THINKING: u32 = 1_024;

/// A brain that asks models through a client.
///
/// The client must have no fallback: the next model is chosen here. The next one of the chain is
/// asked when a model is not served, or when it is overloaded after the client's retries, and never for anything else.
/// The model that answered is the one that is asked first from then on.
pub struct LlmBrain {
    client: Client,
    provider: String,
    chain: Vec<ModelSpec>,
    fast: ModelSpec,
    /// The place in the chain of the model that answered last.
    working: AtomicUsize,
    /// The part of the client's spend that was reported already.
    told: Mutex<Spend>,
}

impl LlmBrain {
    /// Asks the models of `settings` through `client`, whose provider is called `provider`.
    pub fn new(client: Client, provider: impl Into<String>, settings: &Settings) -> Self {
        Self {
            client,
            provider: provider.into(),
            chain: settings.models.clone(),
            fast: settings.fast.clone(),
            working: AtomicUsize::new(0),
            told: Mutex::default(),
        }
    }

    /// The models to ask, in order.
    fn models(&self, request: &BrainRequest) -> Vec<&ModelSpec> {
        let from = match &request.after {
            Some(refused) => match self.place(refused) {
                Some(place) => place + 1,
                None => self.chain.len(),
            },
            None => match &request.model {
                Some(model) => self.place(model).unwrap_or(self.chain.len()),
                None => self.working.load(Ordering::Relaxed),
            },
        };
        let fast = (request.tier == Tier::Fast && request.after.is_none()).then_some(&self.fast);
        let others = self.chain.iter().skip(from);
        fast.into_iter()
            .chain(others.filter(|spec| fast.is_none_or(|fast| fast.id != spec.id)))
            .collect()
    }

    fn told(&self) -> MutexGuard<'_, Spend> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The charges that were not reported yet.
    fn untold(&self) -> Spend {
        self.client.spent().since(&self.told())
    }

    fn place(&self, model: &str) -> Option<usize> {
        self.chain.iter().position(|spec| spec.id == model)
    }

    /// Asks one model. `begun` is set when a part of the answer was shown.
    async fn ask(
        &self,
        request: &Request,
        events: &EventSink,
        begun: &mut bool,
    ) -> Result<Reply, Error> {
        let mut stream = self.client.stream(request).await?;
        while let Some(event) = stream.next().await {
            match event? {
                llm_client::Event::TextDelta { text, .. } => {
                    *begun = true;
                    events.send(Event::Delta { text });
                }
                llm_client::Event::Done(reply) if reply.stop == StopReason::Error => {
                    return Err(Error::bad_response("the server failed in the middle of it"));
                }
                llm_client::Event::Done(reply) => return Ok(*reply),
                _ => {}
            }
        }
        Err(Error::protocol("the stream ended without its last event"))
    }

    /// Asks the models one after another.
    async fn ask_chain(
        &self,
        request: &BrainRequest,
        events: &EventSink,
    ) -> Result<BrainReply, BrainError> {
        let mut models = self.models(request).into_iter().peekable();
        let mut changed = None;
        while let Some(spec) = models.next() {
            let mut begun = false;
            let mut asked = asked(request, spec, self.client.capabilities(&spec.id).thinking);
            let wanted = asked.max_tokens.unwrap_or(MAX_TOKENS);
            let allowed = request.allowance.reply(&spec.id, wanted, self.untold().usd);
            let longest = allowed.map_err(BrainError::Budget)?;
            if let Some(changed) = changed.take() {
                events.send(changed);
            }
            if longest < wanted && matches!(asked.thinking, Thinking::Budget(_)) {
                // Thoughts and answer share the tokens: with fewer there may be no answer.
                asked.thinking = Thinking::Off;
            }
            asked.max_tokens = Some(longest);
            let error = match self.ask(&asked, events, &mut begun).await {
                Ok(reply) => {
                    // A refusal is about this conversation, and who asks for a model gets it: neither says that the
                    // models before do not answer.
                    let chosen = request.model.is_some() || request.tier != Tier::Default;
                    let place = self
                        .place(&spec.id)
                        .filter(|_| request.after.is_none() && !chosen);
                    if let Some(place) = place {
                        self.working.store(place, Ordering::Relaxed);
                    }
                    return Ok(BrainReply {
                        reply,
                        model: spec.id.clone(),
                    });
                }
                Err(error) => error,
            };
            match models.peek() {
                // What was shown cannot be taken back, so another model must not begin again.
                Some(next) if !begun && moves_on(&error) => {
                    changed = Some(Event::ModelChanged {
                        from: spec.id.clone(),
                        to: next.id.clone(),
                        why: BrainError::model(&spec.id, error).plain(),
                    });
                }
                _ => return Err(BrainError::model(&spec.id, error)),
            }
        }
        Err(no_model(request))
    }
}

#[async_trait]
impl Brain for LlmBrain {
    fn info(&self) -> BrainInfo {
        BrainInfo {
            provider: self.provider.clone(),
            model: self
                .chain
                .get(self.working.load(Ordering::Relaxed))
                .map(|spec| spec.id.clone())
                .unwrap_or_default(),
            fast: self.fast.id.clone(),
            offline: None,
        }
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        tokio::select! {
            biased;
            // The other branch is dropped, and the connection with it.
            () = cancel.cancelled() => Err(BrainError::Cancelled),
            answer = self.ask_chain(&request, &events) => answer,
        }
    }

    fn tools_as_sent(&self, tools: &[ToolSpec]) -> String {
        let request = Request::new(self.info().model, "words").tools(tools.to_vec());
        let sent = self.client.prepare(&request).ok();
        sent.and_then(|sent| serde_json::from_slice(&sent.body).ok())
            .map_or_else(|| "[]".to_owned(), |Body { tools }| tools.get().to_owned())
    }

    fn take_spend(&self) -> Option<Spend> {
        let mut told = self.told();
        let now = self.client.spent();
        let before = std::mem::replace(&mut *told, now);
        Some(now.since(&before))
    }
}

impl BrainError {
    fn model(model: &str, source: Error) -> Self {
        Self::Model {
            model: model.to_owned(),
            source,
        }
    }
}

/// The part of a request's body that holds the tools.
#[derive(Deserialize)]
struct Body {
    tools: Box<RawValue>,
}

/// Whether the next model is asked after this error.
fn moves_on(error: &Error) -> bool {
    matches!(
        error.class(),
        ErrorClass::ModelUnavailable | ErrorClass::Overloaded
    )
}

fn no_model(request: &BrainRequest) -> BrainError {
    BrainError::Other(match &request.after {
        Some(model) => format!("no model comes after {model}: add one to hermitcrab.toml"),
        None => match &request.model {
            Some(model) => format!("there is no model {model}: add it to hermitcrab.toml"),
            None => "no model is set: add one to hermitcrab.toml".to_owned(),
        },
    })
}

/// The request for this model; `has_thinking` says whether its protocol has a field for thinking.
fn asked(request: &BrainRequest, spec: &ModelSpec, has_thinking: bool) -> Request {
    let max_tokens = request.max_tokens.or(spec.max_tokens).unwrap_or(MAX_TOKENS);
    let (thinking, max_tokens) = match spec.thinking {
        ThinkingMode::Always => (Thinking::Unset, max_tokens),
        _ if !has_thinking => (Thinking::Unset, max_tokens),
        _ if request.thinking_off => (Thinking::Off, max_tokens),
        ThinkingMode::Adaptive => (Thinking::Adaptive, max_tokens),
        ThinkingMode::Off => (Thinking::Off, max_tokens),
        ThinkingMode::Budget(tokens) => {
            let least = tokens.saturating_add(ANSWER_AFTER_THINKING + 1);
            (Thinking::Budget(tokens), max_tokens.max(least))
        }
    };
    let has_tools = !request.tools.is_empty();
    let tool_choice = if request.tools_off && has_tools {
        ToolChoice::None
    } else {
        ToolChoice::Unset
    };
    Request::default()
        .model(spec.id.clone())
        .messages(request.messages.clone())
        .system(request.system.clone())
        .max_tokens(Some(max_tokens))
        .cache_tools(has_tools.then_some(CacheMark::Default))
        .tools(request.tools.clone())
        .tool_choice(tool_choice)
        .thinking(thinking)
        .effort(spec.effort.clone())
}
