//! The page, section by section.

use report_kit::{Page, Section, Status};
use serde::Serialize;
use serde_json::Value;

use super::data::{ReportData, ReportSource};
use super::facts::RunFacts;
use super::messages::MessageBrowser;
use super::shown::{DATA_ROUNDS, data_stride};
use super::{
    cost, definitions, embedded, head, imported, limits, lineage, measures, nulls, protocol, seeds,
    settings,
};
use crate::export::picture;

/// Returns the page of a run: one file that uses no network, with the same bytes for the same journal or import.
///
/// Texts of minds, seed messages and settings are escaped, so they cannot be read as anything but text.
pub fn page(data: &ReportData) -> Page {
    let page = match &data.source {
        ReportSource::Journal(facts) => of_journal(data, facts),
        ReportSource::Import { header, authors } => imported::page(data, header, authors),
    };
    let stride = data_stride(data.transcript.rounds.len());
    let page = match &data.analysis.embedded {
        Some(run) => page.data("embedding", &rounded(run, stride)),
        None => page,
    };
    page.data("measures", &rounded(&data.analysis.metrics, stride))
        .data("seeds", &rounded(&seeds::shares(data), stride))
        .data(
            "roots",
            &rounded(&picture::root_shares(&data.lineage), stride),
        )
}

fn of_journal(data: &ReportData, facts: &RunFacts) -> Page {
    let messages = MessageBrowser::of(data);
    let (tone, origin) = head::origin(facts);
    let mut page = Page::new(head::title(data, facts))
        .lead(head::lead(data, facts))
        .origin(tone, origin);
    let mut notices = head::notices(data, facts).into_iter().peekable();
    if let Some((tone, notice)) = notices.next_if(|(tone, _)| *tone != Status::Info) {
        page = page.notice(tone, notice);
    }
    if let Some(plot) = measures::similarity(data) {
        page = page.plot(plot);
    }
    if let Some(chance) = nulls::section(&data.analysis) {
        page = page.section(chance);
    }
    page = page
        .section(seeds::section(data, &messages))
        .section(lineage::section(data, &messages))
        .section(measures::section(data));
    if let Some(vectors) = embedded::section(&data.analysis) {
        page = page.section(vectors);
    }
    page.section(protocol::section(data, facts, &messages))
        .section(cost::section(data, facts))
        .section(messages.section().folded())
        .section(definitions::section(&data.analysis).folded())
        .section(limits::section(data, notices))
        .provenance(
            Section::new("Provenance")
                .anchor("provenance")
                .facts(head::facts(data, facts))
                .section(settings::section(facts))
                .section(settings::verify(facts)),
        )
}

/// Returns the JSON of data with numbers of six decimals, more than a drawing shows, and of each list over rounds the last
/// item and those at a distance of `stride` before it.
fn rounded(data: &impl Serialize, stride: usize) -> Value {
    let mut value = serde_json::to_value(data).unwrap_or_default();
    round(&mut value, stride);
    value
}

fn round(value: &mut Value, stride: usize) {
    match value {
        Value::Array(items) => {
            // Other lists are shorter.
            if stride > 1 && items.len() > DATA_ROUNDS {
                let last = items.len() - 1;
                let mut index = 0..;
                items.retain(|_| (last - index.next().unwrap_or(last)).is_multiple_of(stride));
            }
            for item in items {
                round(item, stride);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                round(field, stride);
            }
        }
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            *value = ((float * 1e6).round() / 1e6).into();
        }
        _ => {}
    }
}
