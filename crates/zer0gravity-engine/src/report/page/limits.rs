//! The limits of the numbers.

use std::collections::BTreeSet;

use report_kit::{Section, Status};

use super::counted;
use crate::report::RunReport;
use crate::{ExperimentResult, TokenSource};

/// Returns the section with the limits, and with the notices that are not at the top of the page.
pub(super) fn section(
    report: &RunReport,
    notices: impl Iterator<Item = (Status, String)>,
) -> Option<Section> {
    if report.results.is_empty() {
        return None;
    }
    let mut sentences = vec![judge(report), sample(report), tokens(report)];
    let with_total = report.results.iter().any(|result| result.total.is_some());
    if with_total {
        sentences.push("Learnability follows from the points for meaning and was not measured separately. Flags change no total.".to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let section = Section::new("Limits").anchor("limits");
    let section = section.text(sentences.join(" "));
    Some(notices.fold(section, |section, (tone, text)| section.notice(tone, text)))
}

fn judge(report: &RunReport) -> String {
    let panel = &report.statistics.judges.semantic;
    if report.offline {
        return "No model judged: the points for meaning measure common letters and words, so a good paraphrase scores low.".to_owned();
    }
    match panel.per_judge.as_slice() {
        [] => String::new(),
        [one] => format!(
            "One judge, {}, read every pair. {}, and another judge may give different ones.",
            one.model,
            checked(report, "its")
        ),
        several => {
            let agreement = panel.alpha.map_or_else(String::new, |alpha| {
                format!(" and agree with a Krippendorff alpha of {alpha:.2}")
            });
            let (count, people) = (several.len(), checked(report, "their"));
            format!("{count} judges read the pairs{agreement}. {people}.")
        }
    }
}

/// The part that people had in the points.
fn checked(report: &RunReport, whose: &str) -> String {
    match &report.calibration {
        None => format!("No person checked {whose} points"),
        Some(calibration) if report.labelled_pairs(calibration) == 0 => {
            format!("People checked {whose} points, but for no random sample of these pairs")
        }
        Some(_) => format!("People checked {whose} points for a random sample of the pairs"),
    }
}

fn sample(report: &RunReport) -> String {
    let texts = counted(report.cases.len(), "text", "texts");
    let distinct = |number: fn(&ExperimentResult) -> u32| {
        let numbers: BTreeSet<u32> = report.results.iter().map(number).collect();
        numbers.len()
    };
    let (trials, decodes) = (
        distinct(|result| result.trial),
        distinct(|result| result.decode),
    );
    let repeats = if (trials, decodes) == (1, 1) {
        "each encoded and decoded once, so every number includes the random variation of one run"
            .to_owned()
    } else {
        format!(
            "each encoded {} and each encoded text decoded {}",
            times(trials),
            times(decodes)
        )
    };
    let reach = match report.cases.len() {
        0 | 1 => "There is one text, so the results say nothing about other texts.",
        _ => {
            "The intervals assume that the texts are a random sample of the texts of interest; otherwise they are too narrow."
        }
    };
    format!("The sample is {texts}, {repeats}. {reach}")
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

fn tokens(report: &RunReport) -> String {
    let count = |source| {
        let results = report.results.iter();
        results
            .filter(|result| result.metadata.token_source == Some(source))
            .count()
    };
    let of = |count| {
        if count == report.results.len() {
            "All token numbers".to_owned()
        } else {
            format!(
                "The token numbers of {}",
                counted(count, "result", "results")
            )
        }
    };
    let local = report.results.iter().map(|result| &result.metadata);
    let counters: BTreeSet<String> = local
        .filter(|metadata| metadata.token_source == Some(TokenSource::Local))
        .filter_map(|metadata| metadata.token_counter.as_ref())
        .map(|counter| format!("{}, error {}", counter.tokenizer, counter.error))
        .collect();
    let estimates = if counters.is_empty() {
        "are estimates by a tokenizer of another family".to_owned()
    } else {
        let counters: Vec<String> = counters.into_iter().collect();
        format!(
            "are estimates by a public tokenizer ({})",
            counters.join("; ")
        )
    };
    let told = [
        (TokenSource::Local, estimates.as_str()),
        (
            TokenSource::Chars4,
            "are a quarter of the characters, a rough estimate",
        ),
        (
            TokenSource::Usage,
            "are derived from the usage that replies report, less the measured tokens of the prompt without its text",
        ),
        (
            TokenSource::Given,
            "came with the texts and were not checked",
        ),
    ];
    let sentences: Vec<String> = (told.into_iter())
        .map(|(source, words)| (count(source), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{} {words}.", of(count)))
        .collect();
    sentences.join(" ")
}
