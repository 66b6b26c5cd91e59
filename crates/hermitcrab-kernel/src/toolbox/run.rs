//! The tools that reach out of the kernel: the web, granted folders, the key-value store, and the host.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Toolbox;
use super::kv::Kv;
#[cfg(feature = "web")]
use super::web::Page;
use crate::faces::{HostCall, HostError};
use crate::table::{Args, ToolResult};
use crate::{ErrorKind, ToolError};

/// The pages that a turn has read.
#[derive(Debug, Default)]
pub(crate) struct PagesRead {
    /// The last page or search: what is written after it may come from it.
    pub last: Option<String>,
    /// The pages by the addresses that were asked for.
    #[cfg(feature = "web")]
    pub(super) pages: std::collections::BTreeMap<String, std::sync::Arc<Page>>,
}

impl Toolbox {
    /// Runs a tool that works outside of the kernel, until `cancel` fires.
    #[cfg_attr(
        not(feature = "web"),
        expect(unused_variables, reason = "only the web has pages")
    )]
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
                #[cfg(feature = "web")]
                name if name.starts_with("web_") => self.on_web(name, &args, read).await,
                #[cfg(feature = "files")]
                name if name.starts_with("fs_") => self.in_folders(name, args).await,
                name if name.starts_with("idb_") => self.in_kv(name, &args),
                name => self.ask_host(name, args).await,
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => {
                let fault = ToolError::new(ErrorKind::Stopped, "the person stopped the turn");
                Err(if begun { fault.hint("fs_list shows whether it was done") } else { fault })
            }
        }
    }

    fn kv(&self) -> Result<&Kv, ToolError> {
        if let Some(open) = self.kv.get() {
            return Ok(open);
        }
        let opened = Kv::open(self.data.as_deref(), &self.redactor)?;
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
                        ErrorKind::NotFound,
                        format!("there is no key {key:?}"),
                    ));
                }
            },
            "idb_put" => {
                let key = kv.written(key);
                kv.put(&key, &kv.written(args.text("value")).into())?;
                ToolResult::of(json!({"key": key}))
            }
            "idb_list" => ToolResult::of(json!({"keys": kv.list(), "unreadable": kv.skipped()})),
            _ => ToolResult::of(json!({"deleted": kv.delete(key)?})),
        })
    }

    pub(super) async fn ask_host(&self, name: &str, args: Args) -> Result<ToolResult, ToolError> {
        if !self.host.offers().0.contains(name) {
            return Err(ToolError::new(
                ErrorKind::Unavailable,
                format!("{name} needs an open page"),
            )
            .hint("tell the person, or go another way"));
        }
        let call = HostCall {
            name: name.to_owned(),
            args: args.into_value(),
        };
        match self.host.ask(call).await {
            Ok(value) => Ok(ToolResult::of(value)),
            Err(error @ HostError::Denied) => {
                Err(ToolError::new(ErrorKind::Denied, error.to_string())
                    .hint("do not ask again in this turn"))
            }
            Err(error @ HostError::Unavailable(_)) => {
                Err(ToolError::new(ErrorKind::Unavailable, error.to_string()))
            }
            Err(error) => Err(ToolError::new(ErrorKind::Failed, error.to_string())),
        }
    }
}
