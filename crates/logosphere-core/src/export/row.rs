//! The rows of CSV and JSON Lines.

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::graph::Graph;
use crate::format::without_signature;
use crate::measures::lineage::{Lineage, Node};
use crate::measures::metrics::{Metric, Window, measure};
use crate::pool::MessageId;
use crate::verify::{Message, Transcript};

/// Rows of the same columns.
pub(super) struct Rows<'a> {
    pub(super) columns: &'static [&'static str],
    pub(super) rows: Vec<Row<'a>>,
}

/// A value for each column.
pub(super) struct Row<'a> {
    columns: &'static [&'static str],
    pub(super) values: Vec<CellValue<'a>>,
}

/// A value. Numbers are never read as text.
pub(super) enum CellValue<'a> {
    None,
    Text(&'a str),
    Whole(u64),
    Number(f64),
    Truth(bool),
    Ids(Vec<MessageId>),
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (column, value) in self.columns.iter().zip(&self.values) {
            match value {
                CellValue::None => map.serialize_entry(column, &())?,
                CellValue::Text(text) => map.serialize_entry(column, text)?,
                CellValue::Whole(number) => map.serialize_entry(column, number)?,
                CellValue::Number(number) => map.serialize_entry(column, number)?,
                CellValue::Truth(truth) => map.serialize_entry(column, truth)?,
                CellValue::Ids(ids) => map.serialize_entry(column, ids)?,
            }
        }
        map.end()
    }
}

fn rows<'a>(
    columns: &'static [&'static str],
    rows: impl Iterator<Item = Vec<CellValue<'a>>>,
) -> Rows<'a> {
    let rows = rows.map(|values| Row { columns, values });
    Rows {
        columns,
        rows: rows.collect(),
    }
}

fn whole<'a>(number: impl Into<u64>) -> CellValue<'a> {
    CellValue::Whole(number.into())
}

/// Returns a row for each message: its parents and its descendants.
pub(super) fn lineage<'a>(run: &'a Transcript, lineage: &Lineage) -> Rows<'a> {
    let row = |(node, message): (&Node, &'a Message)| {
        let (parent, others) = match node.parents.split_first() {
            Some((parent, others)) => (Some(parent), others),
            None => (None, &[][..]),
        };
        vec![
            whole(node.id),
            whole(node.round),
            parent.map_or(CellValue::None, |parent| whole(parent.id)),
            parent.map_or(CellValue::None, |parent| {
                CellValue::Text(parent.method.name())
            }),
            parent.map_or(CellValue::None, |parent| {
                CellValue::Number(parent.confidence)
            }),
            CellValue::Ids(others.iter().map(|parent| parent.id).collect()),
            whole(node.root),
            whole(node.depth),
            whole(node.children),
            whole(node.descendants),
            whole(node.lifetime),
            CellValue::Truth(node.alive),
            CellValue::Text(&message.text),
        ]
    };
    let columns = &[
        "id",
        "round",
        "parent",
        "method",
        "confidence",
        "other_parents",
        "root",
        "depth",
        "children",
        "descendants",
        "lifetime",
        "alive",
        "text",
    ];
    rows(columns, lineage.nodes().iter().zip(&run.messages).map(row))
}

/// Returns a row for each pair of a message and one that its mind had read.
pub(super) fn exposure(run: &Transcript) -> Rows<'_> {
    let graph = Graph::of_exposure(run);
    let edges = graph.edges.iter().map(|edge| {
        let message = run.messages.get(edge.to.index());
        let call = message.and_then(|message| run.calls.get(message.call?));
        vec![
            whole(edge.from),
            whole(edge.to),
            call.map_or(CellValue::None, |call| whole(call.round)),
            call.map_or(CellValue::None, |call| whole(call.mind.0)),
        ]
    });
    rows(&["source", "target", "round", "mind"], edges)
}

/// Returns a row for each message.
pub(super) fn messages(run: &Transcript) -> Rows<'_> {
    let messages = run.messages.iter().enumerate().map(|(id, message)| {
        let call = message.call.and_then(|call| run.calls.get(call));
        let bare = without_signature(&message.text);
        // What was removed begins with the blank line before the signature.
        let signature = message.text[bare.len()..].trim_start_matches('\n');
        vec![
            whole(id as u64),
            whole(message.round),
            call.map_or(CellValue::None, |call| whole(call.mind.0)),
            CellValue::Truth(id < run.seeds),
            call.map_or(CellValue::None, |call| CellValue::Text(&call.model)),
            CellValue::Ids(call.map(|call| call.sampled.clone()).unwrap_or_default()),
            CellValue::Text(signature),
            whole(bare.chars().count() as u64),
            CellValue::Text(&message.text),
        ]
    });
    let columns = &[
        "id",
        "round",
        "mind",
        "seed",
        "model",
        "read",
        "signature",
        "chars",
        "text",
    ];
    rows(columns, messages)
}

/// Returns a row for each metric and round.
pub(super) fn metrics(run: &Transcript) -> Rows<'static> {
    let series = measure(run, Window::Active, Metric::ALL, None);
    let values = series.into_iter().flat_map(|series| {
        let metric = series.metric;
        let window = if series.window == "round" {
            "round"
        } else {
            "active"
        };
        series.points.into_iter().map(move |point| {
            vec![
                CellValue::Text(metric.name()),
                CellValue::Text(window),
                metric.encoder().map_or(CellValue::None, CellValue::Text),
                whole(point.round),
                whole(point.n as u64),
                point.value.map_or(CellValue::None, CellValue::Number),
            ]
        })
    });
    rows(
        &["metric", "window", "encoder", "round", "n", "value"],
        values,
    )
}
