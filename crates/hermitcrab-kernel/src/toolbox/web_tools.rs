//! The tools of the web.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_client::Timer;
use serde_json::Value;

use super::web::{SystemResolver, Web};
use super::{PagesRead, Toolbox};
use crate::config::WebPolicy;
use crate::table::{Args, ToolResult};
use crate::{ErrorKind, KernelConfig, ToolError};

/// The web as the person allows it.
pub(super) fn open(config: &KernelConfig, clock: Arc<dyn Timer>) -> Result<Web, ToolError> {
    let policy = WebPolicy {
        searxng: (config.web.searxng.clone()).or_else(|| config.settings.web.searxng.clone()),
        ..config.web.clone()
    };
    Web::new(&policy, Arc::new(SystemResolver), clock)
}

impl Toolbox {
    /// Runs a tool of the web.
    pub(super) async fn on_web(
        &self,
        name: &str,
        args: &Args,
        read: &mut PagesRead,
    ) -> Result<ToolResult, ToolError> {
        match name {
            "web_fetch" => self.web_fetch(args, read).await,
            "web_request" => self.web_request(args, read).await,
            _ => self.web_search(args, read).await,
        }
    }

    async fn web_fetch(&self, args: &Args, read: &mut PagesRead) -> Result<ToolResult, ToolError> {
        let (url, offset) = (args.text("url"), args.number("offset"));
        let kept = read.pages.get(url).filter(|_| offset.is_some());
        let page = match kept {
            Some(page) => page.clone(),
            None => Arc::new(self.web.fetch(url).await?),
        };
        read.last = Some(page.url.clone());
        let offset = usize::try_from(offset.unwrap_or_default()).unwrap_or(usize::MAX);
        let piece = page.piece(offset);
        read.pages.insert(url.to_owned(), page);
        Ok(ToolResult::piece(piece?))
    }

    async fn web_request(
        &self,
        args: &Args,
        read: &mut PagesRead,
    ) -> Result<ToolResult, ToolError> {
        let headers = headers(args.value("headers"))?;
        let answer = self.web.request(
            args.text("method"),
            args.text("url"),
            args.optional("body"),
            &headers,
        );
        let page = answer.await?;
        read.last = Some(page.url.clone());
        Ok(ToolResult::piece(page.piece(0)?.alone()))
    }

    async fn web_search(&self, args: &Args, read: &mut PagesRead) -> Result<ToolResult, ToolError> {
        let found = self.web.search(args.text("query")).await?;
        read.last = Some(format!("search: {}", args.text("query")));
        Ok(ToolResult::of(found))
    }
}

fn headers(given: Option<&Value>) -> Result<BTreeMap<String, String>, ToolError> {
    let given = given.and_then(Value::as_object).into_iter().flatten();
    given
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            _ => Err(ToolError::new(
                ErrorKind::BadArguments,
                format!("header {name} is a text"),
            )),
        })
        .collect()
}
