//! The file of labels: `labels/NAME.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Labels;
use crate::Path;
use crate::store::Origins;
use crate::store::origin::OriginRow;

/// The version of the file. It has to be raised when other labels are derived from the same log.
const VERSION: u32 = 1;

/// The labels of nodes, each by its places in the list of origins.
type IndexedLabels = BTreeMap<Path, Vec<usize>>;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct LabelFile {
    schema_version: u32,
    rev: u64,
    #[serde(default)]
    hash: Option<String>,
    origins: Vec<OriginRow>,
    nodes: IndexedLabels,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    replaced: BTreeMap<u64, IndexedLabels>,
}

/// A list of origins, none twice.
#[derive(Default)]
struct OriginTable {
    rows: Vec<OriginRow>,
    places: BTreeMap<OriginRow, usize>,
}

impl OriginTable {
    fn place(&mut self, row: OriginRow) -> usize {
        *self.places.entry(row).or_insert_with_key(|row| {
            self.rows.push(row.clone());
            self.rows.len() - 1
        })
    }

    fn index(&mut self, nodes: &BTreeMap<Path, Origins>) -> IndexedLabels {
        let mut indexed = IndexedLabels::new();
        for (path, origins) in nodes {
            let rows = Vec::<OriginRow>::from(origins.clone()).into_iter();
            indexed.insert(*path, rows.map(|row| self.place(row)).collect());
        }
        indexed
    }
}

/// The file of these labels.
pub(in crate::store) fn encode(labels: &Labels) -> Vec<u8> {
    let mut table = OriginTable::default();
    let nodes = table.index(&labels.nodes);
    let replaced = labels.replaced.iter();
    let replaced = replaced
        .map(|(rev, nodes)| (*rev, table.index(nodes)))
        .collect();
    let file = LabelFile {
        schema_version: VERSION,
        rev: labels.rev,
        hash: labels.hash.clone(),
        origins: table.rows,
        nodes,
        replaced,
    };
    serde_json::to_vec(&file).unwrap_or_default()
}

/// The labels of a file. `None` if it is damaged, or of another version.
pub(in crate::store) fn decode(bytes: &[u8]) -> Option<Labels> {
    let file: LabelFile = serde_json::from_slice(bytes).ok()?;
    let rows = &file.origins;
    let named = |nodes: IndexedLabels| -> Option<BTreeMap<Path, Origins>> {
        let named = nodes.into_iter().map(|(path, indexes)| {
            // A longer list was not written by a program, and its rows could be long.
            let (indexes, others) = indexes.split_at(indexes.len().min(Origins::MOST + 1));
            let mut found: Vec<_> = indexes
                .iter()
                .map(|at| rows.get(*at).cloned())
                .collect::<Option<_>>()?;
            found.extend((!others.is_empty()).then_some(OriginRow::More {
                more: others.len() as u64,
            }));
            Some((path, Origins::from(found))).filter(|(_, origins)| !origins.is_empty())
        });
        named.collect()
    };
    let replaced = file.replaced.into_iter();
    let replaced = replaced.map(|(rev, nodes)| Some((rev, named(nodes)?)));
    (file.schema_version == VERSION).then_some(())?;
    Some(Labels {
        rev: file.rev,
        hash: file.hash,
        nodes: named(file.nodes)?,
        replaced: replaced.collect::<Option<_>>()?,
        kept: file.rev,
        is_changed: false,
    })
}
