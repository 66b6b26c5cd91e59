//! The normal form: what is written to files, and what hashes are taken of.

use std::io::{self, Write};

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::ser::PrettyFormatter;
use sha2::{Digest as _, Sha256};

use super::Block;
use super::parse::{Loose, strict};

impl Block {
    /// The block's file: two spaces for each level, `_` before the digits, one line end at the end.
    pub fn to_file(&self) -> String {
        let mut bytes = Vec::with_capacity(self.size.text + self.size.nodes * 32);
        self.write_file(&mut bytes);
        // JSON of texts is text.
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn write_file(&self, into: &mut impl Write) {
        let format = PrettyFormatter::with_indent(b"  ");
        let mut serializer = serde_json::Serializer::with_formatter(&mut *into, format);
        // Neither a string nor a counter fails, and a block has nothing that JSON cannot say.
        let _ = self.serialize(&mut serializer);
        let _ = into.write_all(b"\n");
    }

    /// The bytes of [`Block::to_file`].
    pub fn file_bytes(&self) -> usize {
        struct Counted(usize);

        impl Write for Counted {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let mut counted = Counted(0);
        self.write_file(&mut counted);
        counted.0
    }

    /// The SHA-256 of the compact normal form.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(crate::render_json(self)).into()
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
