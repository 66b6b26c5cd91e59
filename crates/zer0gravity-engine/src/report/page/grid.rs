//! The encoder and decoder models against each other.

use report_kit::{Cell, Section, Table};

use super::{ROWS, mean};
use crate::plan::ModelPair;
use crate::report::{EncodingSystemStatistics, RunReport};

/// The systems with the same rules, with their models.
type Crossed<'a> = Vec<(&'a ModelPair, &'a EncodingSystemStatistics)>;

/// A table of means for each set of rules, with a row for each encoder and a column for each decoder; `None` without crossed models.
pub(super) fn section(report: &RunReport) -> Option<Section> {
    let mut rules: Vec<(&str, Crossed<'_>)> = Vec::new();
    for encoding in &report.encodings {
        let mut statistics = report.statistics.per_encoding.iter();
        let own = statistics.find(|one| one.encoding_id == encoding.id);
        let (Some(crossed), Some(own)) = (&encoding.crossed, own) else {
            continue;
        };
        match rules.iter_mut().find(|(id, _)| *id == crossed.encoding) {
            Some((_, systems)) => systems.push((&crossed.models, own)),
            None => rules.push((&crossed.encoding, vec![(&crossed.models, own)])),
        }
    }
    if rules.is_empty() {
        return None;
    }
    let section = Section::new("Who can read whom").anchor("models");
    let over = match report.cases.len() {
        1 => "trials of the one text",
        _ => "texts",
    };
    let section = section.text(format!(
        "Mean total of 100 with its 95 % interval over {over}. Each row is the model that encodes, each column the model that decodes."
    ));
    let tables = rules.iter().map(|(id, systems)| table(id, systems));
    Some(tables.fold(section, Section::table))
}

fn table(rules: &str, systems: &Crossed<'_>) -> Table {
    let distinct = |model: fn(&ModelPair) -> &str| {
        let mut models: Vec<&str> = Vec::new();
        for (pair, _) in systems {
            if !models.contains(&model(pair)) {
                models.push(model(pair));
            }
        }
        models
    };
    let encoders = distinct(|pair| &pair.encoder);
    let decoders = distinct(|pair| &pair.decoder);
    let heads = decoders.iter().map(|decoder| format!("read by {decoder}"));
    let columns = std::iter::once("Encoder".to_owned()).chain(heads);
    let rows = encoders.iter().map(|encoder| {
        let totals = decoders.iter().map(|decoder| {
            let mut own = systems.iter();
            let own = own.find(|(pair, _)| pair.encoder == *encoder && pair.decoder == *decoder);
            own.map_or(Cell::Missing, |(_, statistics)| mean(&statistics.total))
        });
        let row: Vec<_> = std::iter::once(Cell::text(*encoder))
            .chain(totals)
            .collect();
        row
    });
    let rows: Vec<_> = rows.collect();
    Table::new(format!("Mean total with the rules {rules}"), columns)
        .rows(rows)
        .limit(ROWS)
}
