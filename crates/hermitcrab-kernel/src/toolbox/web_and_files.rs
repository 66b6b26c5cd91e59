//! The tools that reach out of the kernel: the web, granted folders, the key-value store, and the host.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use pscale_blocks::remove_keys;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::Toolbox;
use super::files::Files;
use super::kv::Kv;
use super::web::Page;
use crate::table::Args;
use crate::{HostCall, HostError, ToolError, ToolResult};

/// The most bytes of a file at once: with the JSON around them they are below the longest result.
const PIECE: usize = 10_000;

/// The pages that a turn has read.
#[derive(Debug, Default)]
pub(crate) struct PagesRead {
    /// The last page or search: what is written after it may come from it.
    pub last: Option<String>,
    /// The pages by the addresses that were asked for.
    pages: BTreeMap<String, Arc<Page>>,
}

impl Toolbox {
    /// Runs a tool that works outside of the kernel, until `cancel` fires.
    pub async fn run(
        &self,
        tool: &str,
        args: Args,
        read: &mut PagesRead,
        cancel: &CancellationToken,
    ) -> Result<ToolResult, ToolError> {
        let begun = matches!(tool, "fs_write" | "fs_mkdir" | "fs_delete");
        let work = async {
            match tool {
                "web_fetch" => self.web_fetch(&args, read).await,
                "web_request" => self.web_request(&args, read).await,
                "web_search" => self.web_search(&args, read).await,
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
            () = cancel.cancelled() => {
                let fault = ToolError::new("stopped", "the person stopped the turn");
                Err(if begun { fault.hint("fs_list shows whether it was done") } else { fault })
            }
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

    /// A folder that the person opens now; without a page, those that were opened at the start.
    async fn pick_directory(&self, args: Args) -> Result<ToolResult, ToolError> {
        const NAME: &str = "fs_pick_directory";
        let roots = self.files.roots();
        if self.host.offers().0.contains(NAME) || roots.is_empty() {
            return self.ask_host(NAME, args).await.map_err(|fault| {
                fault.hint(
                    "the person opens a folder with --grant DIR, :rw to write, :rwd to delete",
                )
            });
        }
        Ok(ToolResult::of(json!({"roots": roots})))
    }

    /// Whether the folder is one that the person opened on a page: the host reads and writes there.
    fn is_of_host(&self, name: &str, args: &Args) -> bool {
        let roots = self.files.roots();
        let is_own = roots.iter().any(|own| own.root == args.text("root"));
        !is_own && self.host.offers().0.contains(name)
    }

    /// Works on a thread that may outlive the call: a network folder may never answer, and the person may stop the turn.
    async fn in_folder(&self, name: &str, args: Args) -> Result<ToolResult, ToolError> {
        let (files, name) = (self.files.clone(), name.to_owned());
        let work = spawn_blocking(move || in_folder(&files, &name, &args));
        work.await
            .unwrap_or_else(|stopped| match stopped.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => Err(ToolError::new("stopped", "the program ends")),
            })
    }

    fn kv(&self) -> Result<&Kv, ToolError> {
        if let Some(open) = self.kv.get() {
            return Ok(open);
        }
        let opened = Kv::open(self.data.as_deref(), self.redactor.clone())?;
        Ok(self.kv.get_or_init(|| opened))
    }

    fn in_kv(&self, name: &str, args: &Args) -> Result<ToolResult, ToolError> {
        let kv = self.kv()?;
        let key = args.text("key");
        Ok(match name {
            "idb_get" => match kv.get(key)? {
                Some(value) => ToolResult::of(value),
                None => {
                    return Err(ToolError::new(
                        "not_found",
                        format!("there is no key {key:?}"),
                    ));
                }
            },
            "idb_put" => {
                // No key of a provider is ever in the data directory.
                let (key, _) = remove_keys(key);
                let (value, _) = remove_keys(args.text("value"));
                kv.put(&key, &Value::from(value))?;
                ToolResult::of(json!({"key": key}))
            }
            "idb_list" => ToolResult::of(json!({"keys": kv.list(), "unreadable": kv.skipped()})),
            _ => ToolResult::of(json!({"deleted": kv.delete(key)?})),
        })
    }

    async fn ask_host(&self, name: &str, args: Args) -> Result<ToolResult, ToolError> {
        if !self.host.offers().0.contains(name) {
            return Err(
                ToolError::new("unavailable", format!("{name} needs an open page"))
                    .hint("tell the person, or go another way"),
            );
        }
        let call = HostCall {
            name: name.to_owned(),
            args: args.into_value(),
        };
        match self.host.ask(call).await {
            Ok(value) => Ok(ToolResult::of(value)),
            Err(error @ HostError::Denied) => {
                Err(ToolError::new("denied", error.to_string())
                    .hint("do not ask again in this turn"))
            }
            Err(error @ HostError::Unavailable(_)) => {
                Err(ToolError::new("unavailable", error.to_string()))
            }
            Err(error) => Err(ToolError::new("failed", error.to_string())),
        }
    }
}

fn in_folder(files: &Files, name: &str, args: &Args) -> Result<ToolResult, ToolError> {
    let (root, path) = (args.text("root"), args.text("path"));
    Ok(match name {
        "fs_list" => ToolResult::of(files.list(root, path)?),
        "fs_read" => {
            let offset = args.number("offset").unwrap_or_default();
            ToolResult::of(files.read(root, path, offset, PIECE)?)
        }
        "fs_write" => {
            files.write(root, path, args.text("content"))?;
            ToolResult::of(json!({"root": root, "path": path}))
        }
        "fs_mkdir" => {
            files.mkdir(root, path)?;
            ToolResult::of(json!({"root": root, "path": path}))
        }
        _ => ToolResult::of(json!({"moved_to": files.delete(root, path)?})),
    })
}

fn headers(given: Option<&Value>) -> Result<BTreeMap<String, String>, ToolError> {
    let given = given.and_then(Value::as_object).into_iter().flatten();
    given
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            _ => Err(ToolError::new(
                "bad_arguments",
                format!("header {name} is a text"),
            )),
        })
        .collect()
}
