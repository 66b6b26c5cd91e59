use std::collections::BTreeMap;

use pscale_blocks::bundle::ImportBatch;
use pscale_blocks::store::remove_keys;
use pscale_blocks::{Block, BlockName, NodeLine, Path};
use serde_json::{Map, Value};

use crate::conversation::{PastMessage, messages};

/// The data of an earlier generation, read from any of its forms. Keys are removed from the texts while they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// Path, such as `/memories/M-1.md`, and text. None is blank.
    pub(crate) files: BTreeMap<String, String>,
    /// Blocks of a later version.
    pub(crate) blocks: BTreeMap<BlockName, Block>,
    /// Values of the browser's database, by key.
    pub(crate) database: BTreeMap<String, String>,
    pub(crate) conversation: Vec<PastMessage>,
    pub(crate) conversation_unreadable: bool,
    pub(crate) empty_files: usize,
    pub(crate) keys_removed: u32,
    /// Names of data that is not taken over.
    pub(crate) left: Vec<String>,
    /// Something in it is of an earlier generation.
    known: bool,
}

/// The input is none of the forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an export of an earlier Hermitcrab: {reason}")]
#[non_exhaustive]
pub struct NotAnExport {
    /// The content that was found in its place.
    pub reason: String,
}

impl Export {
    /// Reads a dump of a browser (`{"localStorage": {..}, "indexedDB": {..}}`, or the local storage alone) or the map that
    /// `getMemory()` answers.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAnExport> {
        let not = |reason: String| Err(NotAnExport { reason });
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return not("the file is empty".to_owned());
        }
        let value: Value = match serde_json::from_slice(bytes) {
            Ok(value) => value,
            Err(error) => return not(format!("no JSON: {error}")),
        };
        let Value::Object(entries) = value else {
            return not("the JSON is not an object".to_owned());
        };
        let mut export = Self::default();
        if let Some(Value::Object(storage)) = entries.get("localStorage") {
            export.add_storage(storage);
            if let Some(Value::Object(databases)) = entries.get("indexedDB") {
                export.add_databases(databases);
            }
        } else {
            export.add_storage(&entries);
        }
        if !export.known {
            let block = std::str::from_utf8(bytes).ok().and_then(block_of_today);
            return not(block.unwrap_or("no key of it is known").to_owned());
        }
        export.left.sort();
        Ok(export)
    }

    /// Takes a folder's files over: each with its path below the folder, in any order. They are not read as UTF-8 before,
    /// so that a picture among them is not an error.
    ///
    /// # Errors
    /// Neither a numbered file nor `identity.md` is among them.
    pub fn of_files<P, B>(files: impl IntoIterator<Item = (P, B)>) -> Result<Self, NotAnExport>
    where
        P: AsRef<str>,
        B: AsRef<[u8]>,
    {
        let mut export = Self::default();
        let mut block = None;
        for (path, bytes) in files {
            let path = path.as_ref().replace('\\', "/");
            let path = path.trim_start_matches("./").trim_start_matches('/');
            let path = path.strip_prefix("memories/").unwrap_or(path);
            match std::str::from_utf8(bytes.as_ref()) {
                Ok(_) if is_key(path) => export.leave(path),
                Ok(text) if matches!(path, "hc_conversation" | "hc_conversation.json") => {
                    export.add_conversation(text);
                }
                Ok(text) => {
                    if !export.known && block.is_none() && is_json(path) {
                        block = block_of_today(text);
                    }
                    let path = format!("/memories/{path}");
                    export.known |= path == IDENTITY || number(&path).is_some();
                    export.add_file(&path, text);
                }
                Err(_) => export.leave(path),
            }
        }
        if !export.known {
            let reason =
                block.unwrap_or("the folder holds no file such as M-1.md, S-1.md or identity.md");
            return Err(NotAnExport {
                reason: reason.to_owned(),
            });
        }
        export.left.sort();
        Ok(export)
    }

    fn add_storage(&mut self, storage: &Map<String, Value>) {
        for (key, value) in storage {
            self.known |= key.starts_with("hermitcrab");
            let Some(text) = value.as_str().filter(|_| !is_key(key)) else {
                self.leave(key);
                continue;
            };
            let file = key.strip_prefix("hcmem:").unwrap_or(key);
            if file.starts_with('/') {
                self.known |= file != key || file.starts_with(MEMORIES);
                self.add_file(file, text);
            } else if key == "hc_conversation" {
                self.known = true;
                self.add_conversation(text);
            } else if let Some(name) = key
                .strip_prefix("hc:")
                .filter(|name| !name.starts_with('_'))
            {
                self.known = true;
                self.add_block(name, text);
            } else {
                self.leave(key);
            }
        }
    }

    /// Databases by name, each with its stores, each with its values by key.
    fn add_databases(&mut self, databases: &Map<String, Value>) {
        for (name, database) in databases {
            let stores = database["stores"].as_object();
            let Some(stores) = stores.filter(|_| name.starts_with("hermitcrab")) else {
                self.leave(&format!("indexedDB:{name}"));
                continue;
            };
            self.known = true;
            for (key, value) in stores.values().filter_map(Value::as_object).flatten() {
                let text = match self.clean_value(value) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                if is_key(key) {
                    self.leave(&format!("indexedDB:{key}"));
                } else if text.trim().is_empty() {
                    self.empty_files += 1;
                } else {
                    let key = self.clean(key);
                    self.database.insert(key, text);
                }
            }
        }
    }

    fn add_file(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.empty_files += 1;
            return;
        }
        let (path, text) = (self.clean(path), self.clean(text));
        self.files.insert(path, text);
    }

    fn add_conversation(&mut self, json: &str) {
        let Some(mut messages) = messages(json) else {
            self.conversation_unreadable = true;
            return;
        };
        for message in &mut messages {
            message.text = self.clean(&message.text);
        }
        self.conversation = messages;
    }

    fn add_block(&mut self, name: &str, json: &str) {
        let block = Block::parse_lenient(json).ok();
        let Some((name, (mut block, _))) = BlockName::new(name).ok().zip(block) else {
            self.leave(&format!("hc:{name}"));
            return;
        };
        for NodeLine { path, text, .. } in block.subtree(&Path::root(), None).unwrap_or_default() {
            let text = text.unwrap_or_default();
            let clean = self.clean(&text);
            // A text without its keys is not longer, and it is not blank.
            if clean != text && block.write(&path, &clean).is_err() {
                self.leave(&format!("hc:{name}"));
                return;
            }
        }
        self.blocks.insert(name, block);
    }

    /// Removes keys from the texts: in JSON a key may follow an escape.
    fn clean_value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.clean(text).into(),
            Value::Array(items) => items.iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(entries) => entries
                .iter()
                .map(|(key, value)| (self.clean(key), self.clean_value(value)))
                .collect(),
            other => other.clone(),
        }
    }

    fn leave(&mut self, name: &str) {
        let name = self.clean(name);
        self.left.push(name);
    }

    /// The text as a block may hold it.
    fn clean(&mut self, text: &str) -> String {
        let (clean, keys) = remove_keys(text);
        self.keys_removed += keys;
        clean.replace('\0', "")
    }
}

fn is_json(path: &str) -> bool {
    let ending = std::path::Path::new(path).extension();
    ending.is_some_and(|ending| ending == "json")
}

/// A sentence about a text that an import takes and a migration does not.
fn block_of_today(text: &str) -> Option<&'static str> {
    let name = BlockName::new("block").ok();
    let imports = |name| ImportBatch::read(text, name, true).is_ok();
    if !imports(name.as_ref()) {
        return None;
    }
    Some(if imports(None) {
        "this is a bundle of blocks: use import"
    } else if Block::parse_lenient(text).is_ok() {
        "this is a block: use import"
    } else {
        "this is a block of the newer format: use import"
    })
}

/// The folder of the files.
pub(crate) const MEMORIES: &str = "/memories/";
/// The file that says who the instance is.
pub(crate) const IDENTITY: &str = "/memories/identity.md";

/// Whether the value under this name is a key of a provider, which is not even looked at.
fn is_key(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_api_key")
}

/// The letter and the number of a numbered file: `M` and 7 of `/memories/M-7.md`.
pub(crate) fn number(path: &str) -> Option<(char, u32)> {
    let name = path
        .strip_prefix(MEMORIES)
        .filter(|name| !name.contains('/'))?;
    let (letter, rest) = [('M', "M-"), ('S', "S-")]
        .into_iter()
        .find_map(|(letter, prefix)| Some((letter, name.strip_prefix(prefix)?)))?;
    let (digits, _) = rest.split_once('.')?;
    let in_form =
        (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = in_form.then(|| digits.parse().ok())??;
    (number > 0).then_some((letter, number))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbered_files() {
        for (name, expected) in [
            ("M-1.md", Some(('M', 1))),
            ("S-007.csv", Some(('S', 7))),
            ("M-999999.md", Some(('M', 999_999))),
            ("M-1000000.md", None),
            ("M-24", None),
            ("M-0.md", None),
            ("M-draft.md", None),
            ("M-+1.md", None),
            ("M-.md", None),
            ("M-1.d/x.md", None),
            ("sub/M-1.md", None),
            ("m-1.md", None),
        ] {
            assert_eq!(number(&format!("/memories/{name}")), expected, "{name}");
        }
        assert_eq!(number("/elsewhere/M-1.md"), None);
    }
}
