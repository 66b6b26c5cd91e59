//! Providers that ask no model: for tests, demonstrations and dry runs. Their replies say so.

mod echo;
mod pieces;
mod rules;
mod script;

use serde_json::{Value, json};
use url::Url;

pub use echo::Echo;
pub use rules::{Rule, RuleError, RuleMatch, RuleReply, RuleTool};
pub use script::Script;

use crate::provider::{Call, Caps, Route};
use crate::tokens::{Bytes3, Estimator as _, estimated};
use crate::transport::{HttpRequest, Method};
use crate::types::{
    Block, Cost, Count, Origin, Raw, Reply, ReplySource, Request, Role, StopReason, Usage,
};
use crate::{Error, hash};

/// What all offline providers do in the same way.
#[derive(Debug, Clone)]
struct Voice {
    name: String,
    label: &'static str,
    /// Part of what a reply depends on.
    seed: Option<u64>,
}

/// What is asked, as canonical JSON, and its hash.
struct Asked {
    json: String,
    /// 64 hex digits.
    hash: String,
}

impl Voice {
    fn caps(&self) -> Caps {
        Caps {
            offline: Some(self.label),
            ..Caps::ALL
        }
    }

    /// The request as JSON with sorted keys, without what is never sent and without what has its default, so that a
    /// field that is new in a later version changes no reply.
    fn asked(&self, request: &Request, model: &str) -> Result<Asked, Error> {
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
            fields.extend(
                self.seed
                    .map(|seed| ("offline_seed".to_owned(), seed.into())),
            );
        }
        let json = hash::canonical_json(&value);
        let hash = hash::sha256_hex(json.as_bytes());
        Ok(Asked { json, hash })
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        let url = Url::parse(&format!("offline:{}", self.label))
            .map_err(|error| Error::refused("provider", error.to_string()))?;
        let counts = match route {
            Route::Complete | Route::Stream => "",
            Route::CountTokens => "/count_tokens",
        };
        Ok(HttpRequest {
            method: Method::Post,
            url,
            path: format!("/offline/{}{counts}", self.label),
            headers: Vec::new(),
            body: self.asked(request, model)?.json.into(),
            streams: false,
        })
    }

    fn count(request: &Request) -> Count {
        estimated(&Bytes3, request, "offline")
    }

    fn reply(
        &self,
        call: &Call,
        asked: &Asked,
        mut content: Vec<Block>,
        stop: StopReason,
    ) -> Result<Reply, Error> {
        for block in &mut content {
            block.origin = Some(Origin {
                provider: self.name.clone(),
                model: call.target.model.clone(),
            });
        }
        let text: String = content.iter().filter_map(Block::as_text).collect();
        let raw = Raw::of(&json!({"offline": self.label, "text": text}))
            .map_err(|error| Error::bad_response(error.to_string()))?;
        Ok(Reply {
            id: format!(
                "{}_{}",
                self.label,
                asked.hash.get(..24).unwrap_or_default()
            ),
            model: call.target.model.clone(),
            usage: Usage {
                input: Bytes3.estimate(&call.request),
                output: Bytes3::content(&content),
                ..Usage::default()
            },
            content,
            stop,
            stop_details: None,
            cost: Cost::FREE,
            attempts: Vec::new(),
            warnings: Vec::new(),
            request_id: None,
            source: ReplySource::Offline(self.label.to_owned()),
            raw,
            message_raw: None,
        })
    }
}

/// The text of the last user message that has one: in a tool loop, later ones hold results only.
fn last_user_text(request: &Request) -> String {
    request
        .messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User)
        .map(crate::Message::text)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}
