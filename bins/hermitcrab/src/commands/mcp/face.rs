//! The face as an MCP app: the tool `face_show` and its document, for clients that show such documents.

use std::path::{Path, PathBuf};

use bin_support::mcp::{quoted, without_keys};
use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_face::{Runtime, mcp_app_document};
use hermitcrab_kernel::faces::{KeptShells, Shell, ShellCompiler as _, ShellInfo};
use hermitcrab_kernel::{ErrorKind, KernelError, ToolError};
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, JsonObject, MetaObject, Resource,
    ResourceContents, Tool, ToolAnnotations,
};
use serde_json::{Value, json};

pub const TOOL: &str = "face_show";
pub const URI: &str = "ui://hermitcrab/face";

/// The identifier of the extension, and the media type of its documents.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
const MIME: &str = "text/html;profile=mcp-app";

/// Returns whether a client shows documents of MCP apps.
pub fn is_shown_by(client: &ClientCapabilities) -> bool {
    let extension = client
        .extensions
        .as_ref()
        .and_then(|all| all.get(EXTENSION));
    let types = extension.and_then(|settings| settings.get("mimeTypes"));
    types
        .and_then(Value::as_array)
        .is_some_and(|types| types.iter().any(|kind| kind == MIME))
}

/// Returns the tool that shows the face.
pub fn tool() -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!({}));
    let hints = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .open_world(false);
    Tool::new(
        TOOL,
        "Show the person the face: a page that the model of this instance wrote.",
        schema,
    )
    .with_annotations(hints)
    .with_meta(meta(
        json!({"resourceUri": URI, "visibility": ["model", "app"]}),
    ))
}

/// Returns the document in the list of resources.
pub fn resource() -> Resource {
    Resource::new(URI, "face")
        .with_description("The face: a page that the model of this instance wrote.")
        .with_mime_type(MIME)
}

fn meta(ui: Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("ui".to_owned(), ui);
    meta
}

/// The face of a data directory. It is read at each request, also while another process changes it.
pub struct ServedFace {
    data: PathBuf,
    can_write: bool,
}

impl ServedFace {
    pub fn new(data: &Path, can_write: bool) -> Self {
        let data = data.to_owned();
        Self { data, can_write }
    }

    /// Returns the result of the tool: the face in words, for the model.
    pub fn described(&self) -> CallToolResult {
        match self.face() {
            Ok((info, ..)) => {
                let (component, by) = (quoted(&info.component), quoted(&info.by));
                let text = format!("face {}: {component}, by {by}", info.rev);
                CallToolResult::success(vec![ContentBlock::text(text)])
            }
            Err(fault) => {
                CallToolResult::error(vec![ContentBlock::text(without_keys(&fault.to_string()))])
            }
        }
    }

    /// Returns the document.
    ///
    /// # Errors
    /// There is no face, or it cannot be shown.
    pub fn contents(&self) -> Result<ResourceContents, ToolError> {
        let (_, shell, runtime) = self.face()?;
        let version = env!("CARGO_PKG_VERSION");
        let text = mcp_app_document(&shell, &runtime, version, self.can_write);
        // The source has no key, and any change would change the hash of a script.
        let contents = ResourceContents::text(text, URI).with_mime_type(MIME);
        Ok(contents.with_meta(meta(json!({"prefersBorder": false}))))
    }

    /// Returns the face, its compiled form, and the runtime that it is shown on.
    fn face(&self) -> Result<(ShellInfo, Shell, Runtime), ToolError> {
        let unreadable = |error: KernelError| ToolError::new(ErrorKind::Io, error.to_string());
        let kept = KeptShells::open(&self.data).map_err(unreadable)?;
        let Some(info) = kept.good().map_err(unreadable)?.cloned() else {
            return Err(no_face("there is no face yet"));
        };
        let rev = info.rev;
        let source = kept.source(rev).map_err(unreadable)?;
        let source =
            source.ok_or_else(|| no_face(&format!("the source of face {rev} is missing")))?;
        let compiled = OxcCompiler
            .compile(&without_keys(&source))
            .map_err(|faults| {
                let why = faults.first().map_or("", |fault| fault.message.as_str());
                no_face(&format!("face {rev} does not compile: {}", quoted(why)))
            })?;
        let runtime = Runtime::kept_react(&self.data).unwrap_or_else(Runtime::builtin);
        if let Some(need) = compiled.needs_react().filter(|_| !runtime.is_react()) {
            return Err(no_face(&need.message));
        }
        Ok((info, Shell { rev, compiled }, runtime))
    }
}

fn no_face(why: &str) -> ToolError {
    ToolError::new(ErrorKind::NotFound, why).hint("the person can make one with `hermitcrab serve`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_with_the_media_type_counts() {
        let shown = |extensions: Value| {
            let client: ClientCapabilities =
                serde_json::from_value(json!({"extensions": extensions})).unwrap();
            is_shown_by(&client)
        };
        assert!(shown(
            json!({EXTENSION: {"mimeTypes": ["text/html", MIME], "more": 1}})
        ));
        for other in [
            json!({}),
            json!({EXTENSION: {}}),
            json!({EXTENSION: {"mimeTypes": MIME}}),
            json!({EXTENSION: {"mimeTypes": [3, "text/html", [MIME]]}}),
            json!({"io.modelcontextprotocol/UI": {"mimeTypes": [MIME]}}),
        ] {
            assert!(!shown(other.clone()), "{other}");
        }
        assert!(!is_shown_by(&ClientCapabilities::default()));
    }
}
