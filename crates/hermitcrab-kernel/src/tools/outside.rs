//! The tools that reach out of the kernel: the web, granted folders, the key-value store, and what the host can do.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_client::Clock;
use serde_json::Value;

use super::Tool;
use super::args::Args;
use super::run::Caller;
use crate::kernel::Inner;
use crate::web::{SystemResolver, Web, WebPolicy};
use crate::{Fault, HostCall, HostError, KernelConfig, ToolOutcome};

/// The web as the person allows it.
pub(crate) fn web(config: &KernelConfig, clock: Arc<dyn Clock>) -> Result<Web, Fault> {
    let policy = WebPolicy {
        searxng: (config.web.searxng.clone()).or_else(|| config.settings.web.searxng.clone()),
        ..config.web.clone()
    };
    Web::new(&policy, Arc::new(SystemResolver), clock)
}

impl Inner {
    pub(crate) async fn outside(
        &self,
        tool: &Tool,
        args: Args,
        caller: &mut Caller<'_>,
    ) -> Result<ToolOutcome, Fault> {
        let stopped = caller.cancel.clone();
        let work = async {
            match tool.name.as_str() {
                "web_fetch" => self.web_fetch(&args, caller).await,
                "web_request" => self.web_request(&args, caller).await,
                "web_search" => self.web_search(&args, caller).await,
                name if tool.host => self.ask_host(name, args).await,
                name => Err(Fault::new("unavailable", format!("{name} is not built"))),
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = stopped.cancelled() => Err(Fault::new("stopped", "the person stopped the turn")),
        }
    }

    async fn web_fetch(&self, args: &Args, caller: &mut Caller<'_>) -> Result<ToolOutcome, Fault> {
        let page = self.web.fetch(args.text("url")).await?;
        caller.facts.web = Some(page.url.clone());
        Ok(ToolOutcome::of(page))
    }

    async fn web_request(
        &self,
        args: &Args,
        caller: &mut Caller<'_>,
    ) -> Result<ToolOutcome, Fault> {
        let headers = headers(args.value("headers"))?;
        let answer = self.web.request(
            args.text("method"),
            args.text("url"),
            args.maybe("body"),
            &headers,
        );
        let page = answer.await?;
        caller.facts.web = Some(page.url.clone());
        Ok(ToolOutcome::of(page))
    }

    async fn web_search(&self, args: &Args, caller: &mut Caller<'_>) -> Result<ToolOutcome, Fault> {
        let found = self.web.search(args.text("query")).await?;
        caller.facts.web = Some(format!("search: {}", args.text("query")));
        Ok(ToolOutcome::of(found))
    }

    async fn ask_host(&self, name: &str, args: Args) -> Result<ToolOutcome, Fault> {
        if !self.host.offers().0.contains(name) {
            return Err(
                Fault::new("unavailable", format!("{name} needs an open page"))
                    .hint("tell the person, or go another way"),
            );
        }
        let call = HostCall {
            name: name.to_owned(),
            args: args.into_value(),
        };
        match self.host.ask(call).await {
            Ok(value) => Ok(ToolOutcome::of(value)),
            Err(error @ HostError::Denied) => {
                Err(Fault::new("denied", error.to_string()).hint("do not ask again in this turn"))
            }
            Err(error @ HostError::Unavailable(_)) => {
                Err(Fault::new("unavailable", error.to_string()))
            }
            Err(error) => Err(Fault::new("failed", error.to_string())),
        }
    }
}

fn headers(given: Option<&Value>) -> Result<BTreeMap<String, String>, Fault> {
    let given = given.and_then(Value::as_object).into_iter().flatten();
    given
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            _ => Err(Fault::new(
                "bad_arguments",
                format!("header {name} is a text"),
            )),
        })
        .collect()
}
