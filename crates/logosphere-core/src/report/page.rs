//! The page, section by section.

use report_kit::{Page, Section, Status};
use serde::Serialize;
use serde_json::Value;

use super::data::{ReportData, ReportSource};
use super::facts::RunFacts;
use super::messages::MessageBrowser;
use super::shown::data_stride;
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
    let page = match data.analysis.embedded.clone() {
        None => page,
        Some(mut run) => {
            for measure in &mut run.measures {
                thin(&mut measure.points, stride);
            }
            page.data("embedding", &rounded(&run))
        }
    };
    let mut measures = data.analysis.metrics.clone();
    for measured in &mut measures {
        thin(&mut measured.points, stride);
    }
    let mut seeds = seeds::shares(data);
    for seed in &mut seeds {
        thin(&mut seed.shares, stride);
    }
    let mut roots = picture::root_shares(&data.lineage);
    for (_, shares) in &mut roots {
        thin(shares, stride);
    }
    page.data("measures", &rounded(&measures))
        .data("seeds", &rounded(&seeds))
        .data("roots", &rounded(&roots))
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

/// Keeps of a list over rounds the last item and those at a distance of `stride` before it.
fn thin<T>(rounds: &mut Vec<T>, stride: usize) {
    let mut before_last = (0..rounds.len()).rev();
    rounds.retain(|_| {
        before_last
            .next()
            .is_some_and(|distance| distance.is_multiple_of(stride))
    });
}

/// Returns the JSON of data with numbers of six decimals, more than a drawing shows.
fn rounded(data: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(data).unwrap_or_default();
    round(&mut value);
    value
}

fn round(value: &mut Value) {
    match value {
        Value::Array(items) => {
            for item in items {
                round(item);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                round(field);
            }
        }
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            *value = ((float * 1e6).round() / 1e6).into();
        }
        _ => {}
    }
}
