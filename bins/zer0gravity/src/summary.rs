//! The summary of a run, for people, on stderr.

use std::collections::HashSet;
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use bin_support::escape;
use zer0gravity_engine::judge::score::{TokenPair, round_half_up};
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::PromptProfile;
use zer0gravity_engine::report::RunCost;
use zer0gravity_engine::result::{JudgeRecord, OwnStatus};
use zer0gravity_engine::text::preview;
use zer0gravity_engine::{ExperimentResult, StageStatus, TokenSource};

/// The form of the summary.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a part that is shown or not"
)]
pub struct Summary {
    offline: bool,
    /// The file of the rules, if all results have the same.
    rules: Option<String>,
    verbose: bool,
    /// Several encodings, trials or decodings: a result's heading says which it is.
    encodings: bool,
    trials: bool,
    decodes: bool,
}

impl Summary {
    pub fn of(plan: &Plan, verbose: bool) -> Self {
        Self {
            offline: plan.config.label.offline,
            rules: match plan.encodings.as_slice() {
                [one] => Some(one.path.clone().unwrap_or_else(|| "built in".to_owned())),
                _ => None,
            },
            verbose,
            encodings: plan.encodings.len() > 1 || !plan.config.model_pairs.is_empty(),
            trials: plan.config.trials > 1,
            decodes: plan.config.decodes > 1,
        }
    }

    /// The summary of texts that another tool encoded.
    pub fn of_given(offline: bool, verbose: bool, encodings: bool) -> Self {
        Self {
            offline,
            rules: None,
            verbose,
            encodings,
            trials: false,
            decodes: false,
        }
    }

    /// Prints the summary. A closed stderr is not a failure.
    pub fn print(&self, results: &[ExperimentResult], spent: Option<&RunCost>) {
        let _ = io::stderr().write_all(self.text(results, spent).as_bytes());
    }

    /// The whole of it, with what was spent if a model was asked.
    pub fn text(&self, results: &[ExperimentResult], spent: Option<&RunCost>) -> String {
        let mut text = format!("Zer0 Gr@vity Experiment Results\n{}\n", "=".repeat(32));
        if self.offline {
            line(
                &mut text,
                "Provider:",
                "offline (deterministic rules; no model was asked)",
            );
        }
        if let Some(rules) = &self.rules {
            line(&mut text, "Rules:", escape(rules));
        }
        let mut told = HashSet::new();
        for (index, result) in results.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            self.result(&mut text, result, &mut told);
        }
        let spent = spent.filter(|_| !self.offline).map(cost);
        let own = if self.encodings {
            String::new()
        } else {
            own_means(results)
        };
        let last = average(results) + &own + &spent.unwrap_or_default();
        if !last.is_empty() {
            text.push('\n');
        }
        text + &last
    }

    /// One result. `told` are the reasons that results before it gave for rules that need a model.
    fn result(&self, text: &mut String, result: &ExperimentResult, told: &mut HashSet<String>) {
        let kind = result.level.map_or("Case", |_| "Level");
        let id = escape(&result.test_case_id);
        let mut heading = format!("{kind} {id}");
        for (shown, name) in [
            (self.encodings, escape(&result.encoding_id)),
            (self.trials, format!("trial {}", result.trial)),
            (self.decodes, format!("decode {}", result.decode)),
        ] {
            if shown {
                let _ = write!(heading, ", {name}");
            }
        }
        let _ = writeln!(
            text,
            "{heading}: \"{}\"",
            escape(&preview(&result.original_text))
        );
        let total = match (result.total, result.partial_total) {
            (Some(total), _) => Some(format!("{total}/100")),
            (None, partial) => {
                partial.map(|partial| format!("{}/{} (no rules given)", partial.points, partial.of))
            }
        };
        let (Some(scores), Some(total)) = (result.scores, total) else {
            let outcome = &result.outcome;
            let stage = outcome.stage.map_or("", |stage| stage.as_str());
            let status = format!("{} at {stage}", outcome.status);
            let detail = escape(outcome.detail.as_deref().unwrap_or_default());
            let reason = format!("{status}: {detail}");
            // The rules are to blame, whatever the text: once is enough.
            let is_new =
                outcome.status != StageStatus::UnsupportedOffline || told.insert(reason.clone());
            let failed = if is_new {
                reason
            } else {
                format!("{status}, see above")
            };
            field(text, "Failed:", failed);
            if self.verbose {
                replies(text, result);
            }
            return;
        };
        let (Some(original), Some(encoded)) = (result.original_tokens, result.encoded_tokens)
        else {
            return;
        };
        let percent = round_half_up(TokenPair { original, encoded }.raw_percent());
        field(
            text,
            "Compression:",
            format!("{percent}% ({original} → {encoded} tokens)"),
        );
        field(
            text,
            "Semantic:",
            format!(
                "{}/40{}{}",
                scores.semantic_preservation,
                notes(result.details.semantic_judge.as_ref()),
                if result.metadata.prompt_profile == PromptProfile::Own {
                    ", by an own judge prompt"
                } else {
                    ""
                }
            ),
        );
        field(text, "Total:", total);
        for own in &result.own_scores {
            let [low, high] = own.scale;
            let score = match (own.score, own.status) {
                (Some(score), _) => format!("{score} ({low} to {high})"),
                (None, OwnStatus::NotApplicable) => "nothing to measure".to_owned(),
                (None, _) => {
                    let cause = own.reasoning.as_deref().unwrap_or_default();
                    format!("failed: {}", escape(cause))
                }
            };
            field(text, &format!("{}:", own.id), score);
        }
        if self.verbose
            || !result.offline && result.metadata.token_source == Some(TokenSource::Local)
        {
            field(text, "Tokens source:", source(result));
        }
        if self.verbose {
            verbose(text, result);
        }
    }
}

/// The source of the token numbers, and the error of an estimate.
fn source(result: &ExperimentResult) -> String {
    let metadata = &result.metadata;
    match (metadata.token_source, &metadata.token_counter) {
        (Some(TokenSource::Local), Some(counter)) if !result.offline => {
            format!("local (estimate, error {})", counter.error)
        }
        (source, _) => source.map_or("none", TokenSource::as_str).to_owned(),
    }
}

/// The notes on how a judge's score was read, in brackets.
fn notes(record: Option<&JudgeRecord>) -> String {
    let notes = record.map(JudgeRecord::notes).unwrap_or_default();
    if notes.is_empty() {
        return String::new();
    }
    format!(" ({})", notes.join(", "))
}

/// The lines that `--verbose` adds.
fn verbose(text: &mut String, result: &ExperimentResult) {
    let Some(scores) = result.scores else { return };
    field(
        text,
        "Efficiency:",
        format!("{}/40", scores.token_efficiency),
    );
    field(text, "Learnability:", format!("{}/15", scores.learnability));
    if let Some(rules) = scores.implementability {
        let notes = notes(result.details.implementability_judge.as_ref());
        field(text, "Implementable:", format!("{rules}/5{notes}"));
    }
    let flags: Vec<_> = result.flags.iter().map(|flag| flag.id.as_str()).collect();
    let flags = if flags.is_empty() {
        "none".to_owned()
    } else {
        flags.join(", ")
    };
    field(text, "Flags:", flags);
    replies(text, result);
}

/// The beginning of each judge's reply.
fn replies(text: &mut String, result: &ExperimentResult) {
    const SHOWN: usize = 200;
    let details = &result.details;
    for (name, record) in [
        ("Meaning by:", &details.semantic_judge),
        ("Rules by:", &details.implementability_judge),
    ] {
        for sample in record.iter().flat_map(|record| &record.samples) {
            let start: String = sample.reply.chars().take(SHOWN).collect();
            let more = if start.len() < sample.reply.len() {
                "..."
            } else {
                ""
            };
            let (model, start) = (escape(&sample.model), escape(&start));
            field(text, name, format!("{model}: {start}{more}"));
        }
    }
}

/// The line of what a run spent: `Cost:          $0.1907, 220 calls, 3 retries, 41,200 tokens in, 9,800 out`.
pub fn cost(cost: &RunCost) -> String {
    let usd = cost.usd;
    let usd = usd.map_or_else(|| "unknown price".to_owned(), |usd| usd.to_string());
    let counted = |count: u64, one: &str, many: &str| {
        format!(
            "{} {}",
            thousands(count),
            if count == 1 { one } else { many }
        )
    };
    let (calls, retries) = (
        counted(cost.calls, "call", "calls"),
        counted(cost.retries.unwrap_or_default(), "retry", "retries"),
    );
    let tokens = cost.tokens_spent;
    let (read, written) = (thousands(tokens.input), thousands(tokens.output));
    let mut text = String::new();
    let spent = format!("{usd}, {calls}, {retries}, {read} tokens in, {written} out");
    line(&mut text, "Cost:", spent);
    text
}

/// A number with a comma before each three digits.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The mean of the totals; empty if nothing was scored.
pub fn average(results: &[ExperimentResult]) -> String {
    let totals: Vec<_> = (results.iter())
        .filter_map(|result| result.total.map(f64::from))
        .collect();
    let partial = results.iter().filter(|r| r.partial_total.is_some()).count();
    let left_out = match partial {
        0 if totals.is_empty() => return String::new(),
        0 => String::new(),
        count => format!(", {count} left out: no rules given"),
    };
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    let mean = if totals.is_empty() {
        "none".to_owned()
    } else {
        format!("{}/100", round_half_up(mean * 10.0) / 10.0)
    };
    let scored = format!(
        "{mean} ({} of {} scored{left_out})",
        totals.len(),
        results.len()
    );
    let mut text = String::new();
    line(&mut text, "Average:", scored);
    text
}

/// A line for each of the user's measures, with its mean over the results.
fn own_means(results: &[ExperimentResult]) -> String {
    let mut text = String::new();
    let first = results.iter().find(|result| !result.own_scores.is_empty());
    for own in first.iter().flat_map(|result| &result.own_scores) {
        let all = results.iter().flat_map(|result| &result.own_scores);
        let all = all.filter(|score| score.id == own.id);
        let scores: Vec<f64> = all.clone().filter_map(|score| score.score).collect();
        let failed = all.filter(|score| score.status == OwnStatus::ScorerFailed);
        let failed = match failed.count() {
            0 => String::new(),
            count => format!(", failed for {count}"),
        };
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let mean = if scores.is_empty() {
            "none".to_owned()
        } else {
            format!("{mean:.2}")
        };
        let [low, high] = own.scale;
        let value = format!(
            "{mean} ({low} to {high}; {} of {} scored{failed})",
            scores.len(),
            results.len()
        );
        line(&mut text, &format!("{}:", own.id), value);
    }
    text
}

/// Writes a line such as `Average:       74.5/100`.
fn line(text: &mut String, name: &str, value: impl Display) {
    let _ = writeln!(text, "{name:<14} {value}");
}

/// A line of a result: `  Total:       93/100`.
fn field(text: &mut String, name: &str, value: impl Display) {
    let _ = writeln!(text, "  {name:<12} {value}");
}
