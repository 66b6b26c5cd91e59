//! A provider that asks no model: for tests, demonstrations and dry runs. Its replies say so.

use futures_util::future::{self, BoxFuture};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_types::{
    Block, Cost, Event, Origin, Raw, Reply, ReplySource, Request, Role, StopReason, Target,
};
use serde_json::{Value, json};
use url::Url;

use crate::codec::reply_as_events;
use crate::models::tokens::{self, estimated};
use crate::provider::{Answer, Capabilities, HttpRequest, Method, Provider, ProviderCall, Route};
use crate::recording::hash;
use crate::{Error, EventStream};

/// The label of the replies.
const LABEL: &str = "echo";

/// An offline provider that repeats the last user text: `echo:`, 12 hex digits of a hash of seed and request, a space, and
/// the text.
///
/// The text after the digits is cut at `max_tokens` at three bytes a token. Labels and the replay key
/// change nothing. A stream gives the same text word by word.
#[derive(Debug, Clone)]
pub struct Echo {
    name: String,
    seed: u64,
}

impl Echo {
    /// An echo called `echo`; another `seed` gives different digits.
    pub fn new(seed: u64) -> Self {
        let name = LABEL.to_owned();
        Self { name, seed }
    }

    /// Sets another [`Provider::name`]. The replies are still labelled `echo`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The request as JSON with sorted keys, without fields that are never sent or have their default, so that a field of a
    /// later version changes no reply.
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

    fn reply(&self, call: &ProviderCall) -> Result<Reply, Error> {
        let (model, sent) = (&call.target.model, &call.wire.body);
        let request = sent_request(sent)?;
        let hash = hash::sha256_hex(sent);
        let digits = |count| hash.get(..count).unwrap_or_default();
        let mut said = last_user_text(&request);
        let most = request.max_tokens.unwrap_or(u32::MAX) as usize;
        let mut stop = StopReason::EndTurn;
        if said.len() > most.saturating_mul(3) {
            said.truncate(said.floor_char_boundary(most.saturating_mul(3)));
            stop = StopReason::MaxTokens;
        }
        let text = format!("{LABEL}:{} {said}", digits(12));
        let raw = Raw::of(&json!({"offline": LABEL, "text": text}));
        let mut block = Block::text(text);
        block.origin = Some(Origin::new(&self.name, model));
        let mut reply = Reply::new(model, vec![block], stop);
        reply.id = format!("{LABEL}_{}", digits(24));
        reply.usage.input = tokens::prompt(&request).estimate;
        reply.usage.output = tokens::estimate_content(&reply.content);
        reply.cost = Cost::FREE;
        reply.source = ReplySource::Offline(LABEL.to_owned());
        reply.raw = raw.map_err(|error| Error::bad_response(error.to_string()))?;
        Ok(reply)
    }
}

/// The request that [`Echo`] wrote into its body.
fn sent_request(body: &[u8]) -> Result<Request, Error> {
    serde_json::from_slice(body).map_err(|error| Error::refused("request", error.to_string()))
}

/// The text of the last user message that has one; in a tool loop, later ones contain results only.
fn last_user_text(request: &Request) -> String {
    let users = request.messages.iter().rev();
    users
        .filter(|message| message.role == Role::User)
        .map(crate::Message::text)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

/// Splits `event` into one event for each word of its text.
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

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities {
            offline: Some(LABEL),
            ..Capabilities::ALL
        }
    }

    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error> {
        let url = Url::parse("offline:echo")
            .map_err(|error| Error::refused("provider", error.to_string()))?;
        let path = match route {
            Route::Whole | Route::Stream => "/offline/echo",
            Route::Count => "/offline/echo/count_tokens",
            Route::Models => "/offline/echo/models",
            Route::Embed => return Err(route.refused_by(&self.name)),
        };
        let mut wire = HttpRequest::new(Method::Post, url, path);
        wire.body = self.asked(request, &target.model)?.into();
        Ok(wire)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        let answer = match call.route {
            Route::Whole => self
                .reply(&call)
                .map(|reply| Answer::Reply(Box::new(reply))),
            Route::Stream => self.reply(&call).map(|reply| {
                let words = reply_as_events(reply).flat_map(|event| stream::iter(by_words(event)));
                Answer::Stream(EventStream::new(words))
            }),
            Route::Count => sent_request(&call.wire.body).map(|request| {
                Answer::Count(estimated(tokens::prompt(&request).estimate, "offline"))
            }),
            // Any model will do, so none is named.
            Route::Models => Ok(Answer::Models(Vec::new())),
            Route::Embed => Err(call.route.refused_by(&self.name)),
        };
        future::ready(answer).boxed()
    }
}
