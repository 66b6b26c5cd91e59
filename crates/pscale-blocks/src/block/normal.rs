//! The normal form: what is written to files, and what hashes are taken of.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use super::node::DIGITS;
use super::parse::{Loose, strict};
use super::{Block, Node};

/// A block as it is kept: its file and its hash, of one walk over the tree.
#[derive(Debug)]
pub struct NormalForm {
    /// The file: see [`Block::to_file`].
    pub file: String,
    /// The hash: see [`Block::hash`].
    pub hash: [u8; 32],
}

impl Block {
    /// The block's file: two spaces for each level, `_` before the digits, one line end at the end.
    pub fn to_file(&self) -> String {
        self.written(None).into_file()
    }

    /// The bytes of [`Block::to_file`].
    pub fn file_bytes(&self) -> usize {
        self.to_file().len()
    }

    /// The SHA-256 of the compact normal form.
    pub fn hash(&self) -> [u8; 32] {
        self.normal_form().hash
    }

    /// The file and the hash.
    pub(crate) fn normal_form(&self) -> NormalForm {
        let mut written = self.written(Some(Sha256::new()));
        let hash = written.hash.take().unwrap_or_default().finalize().into();
        let file = written.into_file();
        NormalForm { file, hash }
    }

    fn written(&self, hash: Option<Sha256>) -> FormWriter {
        let mut out = FormWriter {
            file: Vec::with_capacity(self.size.text + self.size.nodes * 32),
            hash,
        };
        out.both(b"{");
        out.key("decimal", 1, true);
        out.both(self.decimal.to_string().as_bytes());
        out.key("tree", 1, false);
        out.branch(&self.tree, 1);
        out.line(0);
        out.both(b"}");
        out.file.push(b'\n');
        out
    }
}

/// Writes the file, and hashes the same without white space between the words.
struct FormWriter {
    file: Vec<u8>,
    hash: Option<Sha256>,
}

impl FormWriter {
    fn both(&mut self, bytes: &[u8]) {
        self.file.extend_from_slice(bytes);
        self.hash_from(self.file.len() - bytes.len());
    }

    fn hash_from(&mut self, start: usize) {
        if let Some(hash) = &mut self.hash {
            hash.update(&self.file[start..]);
        }
    }

    fn line(&mut self, level: usize) {
        self.file.push(b'\n');
        self.file.extend(std::iter::repeat_n(b' ', 2 * level));
    }

    fn key(&mut self, key: &str, level: usize, is_first: bool) {
        if !is_first {
            self.both(b",");
        }
        self.line(level);
        self.text(key);
        self.both(b":");
        self.file.push(b' ');
    }

    fn text(&mut self, text: &str) {
        let start = self.file.len();
        // Memory takes every text.
        let _ = serde_json::to_writer(&mut self.file, text);
        self.hash_from(start);
    }

    fn node(&mut self, node: &Node, level: usize) {
        match &node.text {
            Some(text) if node.is_leaf() => self.text(text),
            _ => self.branch(node, level),
        }
    }

    fn branch(&mut self, node: &Node, level: usize) {
        self.both(b"{");
        let text = node.text.as_ref();
        if let Some(text) = text {
            self.key("_", level + 1, true);
            self.text(text);
        }
        for (index, (digit, child)) in node.children.iter().enumerate() {
            let is_first = index == 0 && text.is_none();
            self.key(DIGITS[usize::from(*digit)], level + 1, is_first);
            self.node(child, level + 1);
        }
        if text.is_some() || !node.is_leaf() {
            self.line(level);
        }
        self.both(b"}");
    }

    fn into_file(self) -> String {
        // JSON of texts is text.
        String::from_utf8(self.file).unwrap_or_default()
    }
}

/// The block as compact JSON, `_` before the digits.
pub fn render_json(block: &Block) -> String {
    // A block has nothing that JSON cannot say.
    serde_json::to_string(block).unwrap_or_default()
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Block", 2)?;
        fields.serialize_field("decimal", &self.decimal)?;
        fields.serialize_field("tree", &self.tree.as_branch())?;
        fields.end()
    }
}

/// As strict as [`Block::parse`].
impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let loose = Loose::deserialize(deserializer)?;
        strict(loose).map_err(de::Error::custom)
    }
}
