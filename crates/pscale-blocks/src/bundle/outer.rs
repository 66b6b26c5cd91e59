use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::reader::Reader;
use super::{BundleError, ImportProblemReason, KIND, SCHEMA_VERSION};
use crate::Path;
use crate::store::Origins;

/// The most blocks of a bundle.
const MAX_BLOCKS: usize = 100_000;

/// The outermost object of a text: a bundle, upstream's set of blocks, or a block.
#[derive(Default)]
pub(super) struct Outer<'a> {
    kind: Option<&'a RawValue>,
    schema_version: Option<&'a RawValue>,
    blocks: Option<&'a RawValue>,
    /// Whether one of the keys is that of a block.
    is_block: bool,
    /// The first key in addition to `blocks`.
    other: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Outer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Outer<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut outer = Outer::default();
                while let Some(key) = map.next_key::<String>()? {
                    let place = match key.as_str() {
                        "kind" => &mut outer.kind,
                        "schema_version" => &mut outer.schema_version,
                        "blocks" => &mut outer.blocks,
                        _ => {
                            outer.is_block |= matches!(&*key, "tree" | "decimal" | "_")
                                || matches!(key.as_bytes(), [b'0'..=b'9']);
                            outer.other.get_or_insert(key);
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    if place.replace(map.next_value()?).is_some() {
                        return Err(de::Error::custom(format!("{key:?} is there twice")));
                    }
                }
                Ok(outer)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Outer<'_> {
    /// Whether a text is a bundle or a set, and no block.
    pub fn holds_blocks(text: &str) -> bool {
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        serde_json::from_str::<Outer<'_>>(json)
            .is_ok_and(|outer| outer.has_blocks() && !outer.is_block)
    }

    fn has_blocks(&self) -> bool {
        self.blocks
            .is_some_and(|blocks| blocks.get().starts_with('{'))
    }

    /// Gives the blocks of a bundle or a set to `reader`. `false` if this is neither.
    pub fn read(&self, reader: &mut Reader) -> Result<bool, BundleError> {
        let parsed = |value: Option<&RawValue>| -> Option<Value> {
            value.and_then(|value| serde_json::from_str(value.get()).ok())
        };
        if parsed(self.kind).is_some_and(|kind| kind == KIND) {
            match parsed(self.schema_version).and_then(|version| version.as_u64()) {
                Some(1) => {}
                Some(found) => return Err(BundleError::Newer { found }),
                None => {
                    let reason = format!("expected \"schema_version\": {SCHEMA_VERSION}");
                    return Err(BundleError::Format { reason });
                }
            }
            self.read_bundle(reader)?;
            return Ok(true);
        }
        if self.has_blocks() && !self.is_block {
            self.read_set(reader)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn entries(&self) -> Result<Vec<(String, &RawValue)>, BundleError> {
        let failed = |reason| BundleError::Format { reason };
        let blocks = self
            .blocks
            .ok_or_else(|| failed("expected \"blocks\"".to_owned()))?;
        let entries: Entries<'_> =
            serde_json::from_str(blocks.get()).map_err(|error| failed(error.to_string()))?;
        Ok(entries.0)
    }

    fn read_bundle(&self, reader: &mut Reader) -> Result<(), BundleError> {
        #[derive(Deserialize)]
        struct Entry<'a> {
            hash: Option<String>,
            #[serde(borrow)]
            block: &'a RawValue,
            #[serde(default)]
            labels: BTreeMap<Path, Origins>,
        }
        for (name, value) in self.entries()? {
            match serde_json::from_str(value.get()) {
                Ok(Entry {
                    hash,
                    block,
                    labels,
                }) => reader.block_of_bundle(&name, block.get(), hash.as_deref(), labels),
                Err(error) => reader.problem(&name, ImportProblemReason::Entry(error.to_string())),
            }
        }
        Ok(())
    }

    /// Reads upstream's set, which has its blocks by their names.
    fn read_set(&self, reader: &mut Reader) -> Result<(), BundleError> {
        let kind = self
            .kind
            .map(|_| "kind")
            .or(self.schema_version.map(|_| "schema_version"));
        if let Some(key) = self.other.as_deref().or(kind) {
            let key: String = key.chars().take(80).collect();
            let reason =
                format!("a set of blocks has \"blocks\" and no other key; remove {key:?} from it");
            return Err(BundleError::Format { reason });
        }
        for (name, value) in self.entries()? {
            reader.block_of_set(&name, value.get());
        }
        Ok(())
    }
}

/// Names and their values, in the order of the text. A name that the text has twice is here twice.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of blocks")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    if entries.len() == MAX_BLOCKS {
                        let reason = format!("more than {MAX_BLOCKS} blocks");
                        return Err(de::Error::custom(reason));
                    }
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}
