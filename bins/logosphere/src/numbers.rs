//! Numbers and tables as the commands print them.

use std::fmt::Write as _;

use bin_support::escape;
use logosphere_core::config::Scheduling;
use logosphere_core::measures::Analysis;
use logosphere_core::measures::lineage::LineageSummary;
use serde::Serialize;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Returns the heading of an analysis: the run and the window.
pub fn heading(analysis: &Analysis) -> String {
    let Analysis {
        minds,
        samples,
        active,
        rounds,
        window,
        ..
    } = analysis;
    let scheduling = match analysis.scheduling {
        Scheduling::Sequential => "one after another",
        Scheduling::Snapshot => "all at once",
    };
    let models: Vec<String> = analysis.models.iter().map(|model| escape(model)).collect();
    let models = if models.is_empty() {
        "no model".to_owned()
    } else {
        models.join(", ")
    };
    let mut text = format!(
        "{rounds} rounds, {minds} minds ({models}), {scheduling}, reading {samples} of {active}\n\
         window {window}"
    );
    if let Some(sizes) = analysis.matched {
        let _ = write!(
            text,
            "; texts matched: the first {} tokens of {} texts a window, {} a round",
            sizes.tokens, sizes.window_texts, sizes.round_texts
        );
    }
    text.push('\n');
    text
}

/// Returns a number with four decimals, or a dash.
pub fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.4}"))
}

/// Returns the summary of a lineage in one line.
pub fn lineage(summary: &LineageSummary) -> String {
    let LineageSummary {
        messages,
        exact,
        lcs,
        given,
        embed,
        innovations,
        deepest,
        ..
    } = summary;
    let given = match given {
        0 => String::new(),
        given => format!("{given} with a given parent, "),
    };
    let embed = match embed {
        0 => String::new(),
        embed => format!("{embed} with a similar vector, "),
    };
    let half = match summary.half_life {
        Some(rounds) => format!("half of all lines end within {rounds} rounds"),
        None => "more than half of all lines last".to_owned(),
    };
    format!(
        "lineage: of {messages} messages {exact} are copies, {lcs} variants, {given}{embed}{innovations} new; \
         the longest line has {deepest} steps; {half}\n"
    )
}

/// Returns the word of a value in JSON, without quotes.
pub fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Returns a duration: `45s`, `1m40s`, `2h05m`.
pub fn time(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, _) => format!("{h}h{m:02}m"),
    }
}

/// Wraps a text to the terminal; a file or a pipe gets each paragraph as one line. The last line is ended.
pub fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.trim_end().to_owned() + "\n";
    };
    let words = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false);
    textwrap::fill(text.trim_end(), words) + "\n"
}
