//! The file of labels: `labels/NAME.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Labels;
use crate::Path;
use crate::store::Origins;
use crate::store::origin::OriginRow;

/// The version of the file. It has to be raised when other labels are derived from the same log.
const VERSION: u32 = 2;

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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    name: Vec<usize>,
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
            indexed.insert(*path, self.places(origins));
        }
        indexed
    }

    fn places(&mut self, origins: &Origins) -> Vec<usize> {
        let rows = Vec::<OriginRow>::from(origins.clone()).into_iter();
        rows.map(|row| self.place(row)).collect()
    }
}

/// The file of these labels.
pub(in crate::store) fn encode(labels: &Labels) -> Vec<u8> {
    let mut table = OriginTable::default();
    let name = table.places(&labels.name);
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
        name,
        nodes,
        replaced,
    };
    serde_json::to_vec(&file).unwrap_or_default()
}

/// The labels of a file. `None` if it is damaged, or of another version.
pub(in crate::store) fn decode(bytes: &[u8]) -> Option<Labels> {
    let file: LabelFile = serde_json::from_slice(bytes).ok()?;
    let rows = &file.origins;
    let found = |indexes: &[usize]| -> Option<Origins> {
        // A longer list was not written by a program, and its rows could be long.
        let (indexes, others) = indexes.split_at(indexes.len().min(Origins::MOST + 1));
        let mut found: Vec<_> = indexes
            .iter()
            .map(|at| rows.get(*at).cloned())
            .collect::<Option<_>>()?;
        found.extend((!others.is_empty()).then_some(OriginRow::More {
            more: others.len() as u64,
        }));
        Some(Origins::from(found))
    };
    let named = |nodes: IndexedLabels| -> Option<BTreeMap<Path, Origins>> {
        let named = nodes.into_iter().map(|(path, indexes)| {
            let origins = found(&indexes)?;
            (!origins.is_empty()).then_some((path, origins))
        });
        named.collect()
    };
    let replaced = file.replaced.into_iter();
    let replaced = replaced.map(|(rev, nodes)| Some((rev, named(nodes)?)));
    (file.schema_version == VERSION).then_some(())?;
    Some(Labels {
        rev: file.rev,
        hash: file.hash,
        name: found(&file.name)?,
        nodes: named(file.nodes)?,
        replaced: replaced.collect::<Option<_>>()?,
        kept: file.rev,
        is_changed: false,
    })
}
