//! The tools that reach out of the kernel: the web, granted folders, the key-value store, and what the host can do.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use llm_client::Clock;
use pscale_blocks::remove_keys;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::run::Caller;
use crate::kernel::Inner;
use crate::table::Args;
use crate::{
    Fault, Files, HostCall, HostError, KernelConfig, Kv, SystemResolver, Tool, ToolOutcome, Web,
    WebPolicy,
};

/// The most bytes of a file at once: with what stands around them they are below the longest result.
const PIECE: usize = 10_000;

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
        let begun = matches!(tool.name.as_str(), "fs_write" | "fs_mkdir" | "fs_delete");
        let work = async {
            match tool.name.as_str() {
                "web_fetch" => self.web_fetch(&args, caller).await,
                "web_request" => self.web_request(&args, caller).await,
                "web_search" => self.web_search(&args, caller).await,
                "fs_pick_directory" => self.pick_directory(args).await,
                name if name.starts_with("fs_") && self.is_of_host(name, &args) => {
                    self.ask_host(name, args).await
                }
                name if name.starts_with("fs_") => self.in_folder(name, args).await,
                name if name.starts_with("idb_") => self.in_kv(name, &args),
                name => self.ask_host(name, args).await,
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = stopped.cancelled() => {
                let fault = Fault::new("stopped", "the person stopped the turn");
                Err(if begun { fault.hint("fs_list shows whether it was done") } else { fault })
            }
        }
    }

    async fn web_fetch(&self, args: &Args, caller: &mut Caller<'_>) -> Result<ToolOutcome, Fault> {
        let (url, offset) = (args.text("url"), args.number("offset"));
        let kept = caller.facts.pages.get(url).filter(|_| offset.is_some());
        let page = match kept {
            Some(page) => page.clone(),
            None => Arc::new(self.web.fetch(url).await?),
        };
        caller.facts.web = Some(page.url.clone());
        let offset = usize::try_from(offset.unwrap_or_default()).unwrap_or(usize::MAX);
        let piece = page.piece(offset);
        caller.facts.pages.insert(url.to_owned(), page);
        Ok(ToolOutcome::piece(piece?))
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
        Ok(ToolOutcome::piece(page.piece(0)?.alone()))
    }

    async fn web_search(&self, args: &Args, caller: &mut Caller<'_>) -> Result<ToolOutcome, Fault> {
        let found = self.web.search(args.text("query")).await?;
        caller.facts.web = Some(format!("search: {}", args.text("query")));
        Ok(ToolOutcome::of(found))
    }

    /// A folder that the person opens now; without a page, those that were opened at the start.
    async fn pick_directory(&self, args: Args) -> Result<ToolOutcome, Fault> {
        const NAME: &str = "fs_pick_directory";
        let roots = self.files.roots();
        if self.host.offers().0.contains(NAME) || roots.is_empty() {
            return self.ask_host(NAME, args).await.map_err(|fault| {
                fault.hint(
                    "the person opens a folder with --grant DIR, :rw to write, :rwd to delete",
                )
            });
        }
        Ok(ToolOutcome::of(json!({"roots": roots})))
    }

    /// Whether the folder is one that the person opened on a page: the host reads and writes there.
    fn is_of_host(&self, name: &str, args: &Args) -> bool {
        let roots = self.files.roots();
        let is_own = roots.iter().any(|own| own.root == args.text("root"));
        !is_own && self.host.offers().0.contains(name)
    }

    /// Works on a thread that may be left behind: a folder of a network may never answer, and the person may stop the turn.
    async fn in_folder(&self, name: &str, args: Args) -> Result<ToolOutcome, Fault> {
        let (files, name) = (self.files.clone(), name.to_owned());
        let work = spawn_blocking(move || in_folder(&files, &name, &args));
        work.await
            .unwrap_or_else(|stopped| match stopped.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => Err(Fault::new("stopped", "the program ends")),
            })
    }

    fn kv(&self) -> Result<&Kv, Fault> {
        if let Some(open) = self.kv.get() {
            return Ok(open);
        }
        let data = self.config.data.as_deref().filter(|_| !self.config.glance);
        let opened = Kv::open(data, self.config.redactor.clone())?;
        Ok(self.kv.get_or_init(|| opened))
    }

    fn in_kv(&self, name: &str, args: &Args) -> Result<ToolOutcome, Fault> {
        let kv = self.kv()?;
        let key = args.text("key");
        Ok(match name {
            "idb_get" => match kv.get(key)? {
                Some(value) => ToolOutcome::of(value),
                None => return Err(Fault::new("not_found", format!("there is no key {key:?}"))),
            },
            "idb_put" => {
                // No key of a provider is ever in the data directory.
                let (key, _) = remove_keys(key);
                let (value, _) = remove_keys(args.text("value"));
                kv.put(&key, &Value::from(value))?;
                ToolOutcome::of(json!({"key": key}))
            }
            "idb_list" => ToolOutcome::of(json!({"keys": kv.list(), "unreadable": kv.skipped()})),
            _ => ToolOutcome::of(json!({"deleted": kv.delete(key)?})),
        })
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

fn in_folder(files: &Files, name: &str, args: &Args) -> Result<ToolOutcome, Fault> {
    let (root, path) = (args.text("root"), args.text("path"));
    Ok(match name {
        "fs_list" => ToolOutcome::of(files.list(root, path)?),
        "fs_read" => {
            let offset = args.number("offset").unwrap_or_default();
            ToolOutcome::of(files.read(root, path, offset, PIECE)?)
        }
        "fs_write" => {
            files.write(root, path, args.text("content"))?;
            ToolOutcome::of(json!({"root": root, "path": path}))
        }
        "fs_mkdir" => {
            files.mkdir(root, path)?;
            ToolOutcome::of(json!({"root": root, "path": path}))
        }
        _ => ToolOutcome::of(json!({"moved_to": files.delete(root, path)?})),
    })
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
