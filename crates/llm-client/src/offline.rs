//! A provider that asks no model: for tests, demonstrations and dry runs. Its replies say so.

use std::sync::Arc;

use futures_util::future::{self, BoxFuture};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value, json};
use url::Url;

use crate::codec::reply_as_events;
use crate::provider::SizeCaps;
use crate::provider::{Call, Caps, Provider, Route};
use crate::tokens::{Bytes3, Estimator as _, estimated};
use crate::transport::{HttpRequest, Method, Transport};
use crate::types::{
    Block, Cost, Count, Event, EventStream, ModelInfo, Origin, Raw, Reply, ReplySource, Request,
    Role, StopReason, Usage,
};
use crate::{Error, hash};

/// The label of its replies.
const LABEL: &str = "echo";

/// Answers with what the user said last: `echo:`, 12 hex digits that depend on the seed and the whole request, a
/// space, and the last user text.
///
/// The text after the digits is cut at `max_tokens` as [`crate::provider::Bytes3`] counts them. Labels and the replay key
/// change nothing. A stream gives the same text word by word.
#[derive(Debug, Clone)]
pub struct Echo {
    name: String,
    seed: u64,
}

impl Echo {
    /// An echo called `echo`; another `seed` gives other digits.
    pub fn new(seed: u64) -> Self {
        let name = LABEL.to_owned();
        Self { name, seed }
    }

    /// The same echo under another [`Provider::name`]. Its replies are still labelled `echo`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The request as JSON with sorted keys, without what is never sent and without what has its default, so that a
    /// field that is new in a later version changes no reply.
    fn asked(&self, request: &Request, model: &str) -> Result<String, Error> {
        let json = |request: &Request| {
            serde_json::to_value(request).map_err(|error| {
                Error::refused("request", format!("cannot be written as JSON: {error}"))
            })
        };
        let (mut value, default) = (json(request)?, json(&Request::default())?);
        if let Value::Object(fields) = &mut value {
            fields.retain(|name, value| {
                !matches!(name.as_str(), "labels" | "replay_key")
                    && default.get(name).is_none_or(|default| default != value)
            });
            fields.insert("model".to_owned(), model.into());
            fields.insert("offline_seed".to_owned(), self.seed.into());
        }
        Ok(hash::canonical_json(&value))
    }

    fn answer(&self, call: &Call) -> Result<Reply, Error> {
        let model = &call.target.model;
        let hash = hash::sha256_hex(self.asked(&call.request, model)?.as_bytes());
        let digits = |count| hash.get(..count).unwrap_or_default();
        let mut said = last_user_text(&call.request);
        let most = call.request.max_tokens.unwrap_or(u32::MAX) as usize;
        let mut stop = StopReason::EndTurn;
        if said.len() > most.saturating_mul(3) {
            said.truncate(said.floor_char_boundary(most.saturating_mul(3)));
            stop = StopReason::MaxTokens;
        }
        let text = format!("{LABEL}:{} {said}", digits(12));
        let raw = Raw::of(&json!({"offline": LABEL, "text": text}));
        let mut block = Block::text(text);
        block.origin = Some(Origin {
            provider: self.name.clone(),
            model: model.clone(),
        });
        let mut reply = Reply::new(model, vec![block], stop);
        reply.id = format!("{LABEL}_{}", digits(24));
        reply.usage = Usage {
            input: Bytes3.estimate(&call.request),
            output: Bytes3::content(&reply.content),
            ..Usage::default()
        };
        reply.cost = Cost::FREE;
        reply.source = ReplySource::Offline(LABEL.to_owned());
        reply.raw = raw.map_err(|error| Error::bad_response(error.to_string()))?;
        Ok(reply)
    }
}

/// The text of the last user message that has one: in a tool loop, later ones hold results only.
fn last_user_text(request: &Request) -> String {
    let users = request.messages.iter().rev();
    users
        .filter(|message| message.role == Role::User)
        .map(crate::Message::text)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

/// `event`, or one for each word of its text.
fn by_words(event: Result<Event, Error>) -> Vec<Result<Event, Error>> {
    match event {
        Ok(Event::TextDelta { index, text }) => text
            .split_inclusive(' ')
            .map(|word| {
                let text = word.to_owned();
                Ok(Event::TextDelta { index, text })
            })
            .collect(),
        event => vec![event],
    }
}

impl Provider for Echo {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self, _model: &str) -> Caps {
        Caps {
            offline: Some(LABEL),
            ..Caps::ALL
        }
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        let url = Url::parse("offline:echo")
            .map_err(|error| Error::refused("provider", error.to_string()))?;
        let counts = if route == Route::CountTokens {
            "/count_tokens"
        } else {
            ""
        };
        Ok(HttpRequest {
            method: Method::Post,
            url,
            path: format!("/offline/{LABEL}{counts}"),
            headers: Vec::new(),
            body: self.asked(request, model)?.into(),
            streams: false,
        })
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>> {
        future::ready(self.answer(call)).boxed()
    }

    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>> {
        let events = self.answer(call).map(|reply| {
            let words = reply_as_events(reply).flat_map(|event| stream::iter(by_words(event)));
            EventStream::new(words)
        });
        future::ready(events).boxed()
    }

    fn count_tokens<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Count, Error>> {
        future::ready(Ok(estimated(&Bytes3, &call.request, "offline"))).boxed()
    }

    /// Any model will do, so none is named.
    fn list_models<'a>(
        &'a self,
        _transport: &'a Arc<dyn Transport>,
        _sizes: SizeCaps,
    ) -> BoxFuture<'a, Result<Vec<ModelInfo>, Error>> {
        future::ready(Ok(Vec::new())).boxed()
    }
}
