//! The tools on files, in folders of the host or of this machine.

use std::panic::resume_unwind;
use std::sync::Arc;

use llm_client::Clock;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::Toolbox;
use super::files::Files;
use crate::table::{Args, ToolResult};
use crate::{ErrorKind, KernelConfig, ToolError};

/// The most bytes of a file at once: with the JSON around them they are below the longest result.
const PIECE: usize = 10_000;

/// The folders that the person grants.
pub(super) fn open(config: &KernelConfig, clock: Arc<dyn Clock>) -> Result<Files, ToolError> {
    let files = Files::new(config.data.as_deref(), clock);
    for grant in &config.grants {
        files.grant(grant)?;
    }
    Ok(files)
}

impl Toolbox {
    /// Runs a tool on files.
    pub(super) async fn in_folders(&self, name: &str, args: Args) -> Result<ToolResult, ToolError> {
        if name == "fs_pick_directory" {
            self.pick_directory(args).await
        } else if self.is_of_host(name, &args) {
            self.ask_host(name, args).await
        } else {
            self.in_folder(name, args).await
        }
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
                Err(_) => Err(ToolError::new(ErrorKind::Stopped, "the program ends")),
            })
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
