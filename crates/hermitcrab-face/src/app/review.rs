//! The edits that wait for the person.

use hermitcrab_kernel::ToolError;
use serde_json::{Value, json};

use super::App;

impl App {
    /// The edits that wait, each with the texts that it would change.
    pub(super) fn waiting_edits(&self) -> Result<Value, ToolError> {
        let store = self.kernel.store();
        let listed = self.kernel.review().list()?;
        let rows = listed.edits.iter().map(|edit| {
            let mut row = json!(edit);
            row["why"] = edit.to_string().into();
            row["changes"] = json!(edit.changes(&*store));
            row
        });
        let rows: Vec<_> = rows.collect();
        Ok(json!({"edits": rows, "unread": listed.unread}))
    }

    /// Makes an edit in the name of the person.
    pub(super) fn approve_edit(&self, id: &str) -> Result<Value, ToolError> {
        let (store, now) = (self.kernel.store(), self.kernel.now());
        let (edit, rev) = self.kernel.review().approve(id, &*store, now)?;
        // All pages show the number of those that are left.
        self.broadcast("block_changed", json!({"name": edit.block}));
        Ok(json!({"block": edit.block, "rev": rev}))
    }

    /// Removes an edit, which changes nothing.
    pub(super) fn drop_edit(&self, id: &str) -> Result<Value, ToolError> {
        let edit = self.kernel.review().drop(id)?;
        let block = edit.map(|edit| edit.block);
        self.broadcast("block_changed", json!({"name": block}));
        Ok(json!({"block": block}))
    }
}
