//! The places outside that the result of a tool comes from.

use pscale_blocks::store::Origin;

use super::context::{ToolCaller, TurnContext};
use crate::ToolError;
use crate::table::{Args, ToolResult};
use crate::toolbox::NodeTexts;

/// The key in the place of that of a value, for a list of all keys: they are texts, too.
const ALL_KEYS: &str = "*";

/// The place outside from which a tool brings texts. Its errors may have some, too.
///
/// The clipboard has the text of another program. Speech that the browser writes down has words of the person.
pub(super) fn origin_of(tool: &str, args: &Args) -> Option<Origin> {
    let text = |name: &str| args.text(name).to_owned();
    Some(match tool {
        "web_fetch" | "web_request" => Origin::Web { url: text("url") },
        "web_search" => Origin::Web {
            url: format!("search: {}", args.text("query")),
        },
        "fs_list" | "fs_read" => Origin::File {
            root: text("root"),
            path: text("path"),
        },
        "idb_get" => Origin::Store { key: text("key") },
        "idb_list" => Origin::Store {
            key: ALL_KEYS.to_owned(),
        },
        "clipboard_read" => Origin::Server {
            name: "clipboard".to_owned(),
        },
        _ => return None,
    })
}

/// Names the origin of a result from outside. A page that was read has the address at which it was found in the end.
pub(super) fn with_origin(
    result: Result<ToolResult, ToolError>,
    origin: Option<Origin>,
    caller: &ToolCaller<'_>,
) -> ToolResult {
    let found = match (&origin, &caller.facts.read.last) {
        (Some(Origin::Web { .. }), Some(url)) if result.is_ok() => {
            Some(Origin::Web { url: url.clone() })
        }
        _ => origin,
    };
    let from = found.into_iter().collect();
    ToolResult::from(result).with_from(&from)
}

impl TurnContext<'_> {
    /// Names the origins of the nodes in a result of a block tool. A model that reads a block sees their marks.
    pub(super) fn name_origins(
        &self,
        tool: &str,
        args: &Args,
        mut result: ToolResult,
        caller: &mut ToolCaller<'_>,
    ) -> ToolResult {
        let mut texts = NodeTexts::new(&*self.toolbox.store);
        if tool == "block_read" {
            texts = texts.with_marks(&mut caller.facts.marks);
        }
        texts.visit(tool, args, &mut result.content);
        if result.is_error {
            texts.proposed(args);
        }
        let from = texts.from;
        result.with_from(&from)
    }
}
