use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{self, BoxFuture};

use super::pieces::in_pieces;
use super::{Asked, Voice, last_user_text};
use crate::provider::{Call, Caps, Provider, Route};
use crate::transport::{HttpRequest, Transport};
use crate::types::{Block, Count, EventStream, ModelInfo, Reply, Request, StopReason};
use crate::{Error, SizeCaps};

/// Answers with what the user said last: `echo:`, 12 hex digits that depend on the seed and the whole request, a
/// space, and the last user text.
///
/// The text after the digits is cut at `max_tokens` as [`crate::Bytes3`] counts them. Labels and the replay key
/// change nothing. A stream gives the same text in pieces.
#[derive(Debug, Clone)]
pub struct Echo {
    voice: Voice,
}

impl Echo {
    /// An echo called `echo`; another `seed` gives other digits and other pieces.
    pub fn new(seed: u64) -> Self {
        Self {
            voice: Voice {
                name: "echo".to_owned(),
                label: "echo",
                seed: Some(seed),
            },
        }
    }

    /// The same echo under another [`Provider::name`]. Its replies are still labelled `echo`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.voice.name = name.into();
        self
    }

    fn answer(&self, call: &Call) -> Result<(Reply, Asked), Error> {
        let asked = self.voice.asked(&call.request, &call.target.model)?;
        let mut text = last_user_text(&call.request);
        let most = call
            .request
            .max_tokens
            .map_or(usize::MAX, |tokens| (tokens as usize).saturating_mul(3));
        let stop = if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            StopReason::MaxTokens
        } else {
            StopReason::EndTurn
        };
        let digits = asked.hash.get(..12).unwrap_or_default();
        let content = vec![Block::text(format!("echo:{digits} {text}"))];
        let reply = self.voice.reply(call, &asked, content, stop)?;
        Ok((reply, asked))
    }
}

impl Provider for Echo {
    fn name(&self) -> &str {
        &self.voice.name
    }

    fn capabilities(&self, _model: &str) -> Caps {
        self.voice.caps()
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        self.voice.encode(request, model, route)
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>> {
        future::ready(self.answer(call).map(|(reply, _)| reply)).boxed()
    }

    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>> {
        let stream = self
            .answer(call)
            .map(|(reply, asked)| in_pieces(reply, &asked.hash, None));
        future::ready(stream).boxed()
    }

    fn count_tokens<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Count, Error>> {
        future::ready(Ok(Voice::count(&call.request))).boxed()
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
