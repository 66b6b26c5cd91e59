//! The top of the page, and the provenance at its end.

use std::collections::BTreeSet;

use report_kit::{Cell, Section, Status};

use super::counted;
use crate::judge::JudgeStatus;
use crate::judge::flags::Severity;
use crate::metrics::stats::SIGNIFICANT;
use crate::prompts::PromptProfile;
use crate::report::export::word;
use crate::report::grouped::is_scored;
use crate::report::{EncodingSystemStatistics, RunReport, probability};
use crate::result::JudgeRecord;
use crate::{ExperimentResult, StageStatus};

pub(super) fn title(report: &RunReport) -> String {
    let encodings = &report.statistics.per_encoding;
    let texts = counted(report.cases.len(), "text", "texts");
    match encodings.as_slice() {
        [] => "Zer0 Gr@vity".to_owned(),
        [only] => format!("Zer0 Gr@vity: {} on {texts}", only.encoding_id),
        _ => format!(
            "Zer0 Gr@vity: {} encoding systems on {texts}",
            encodings.len()
        ),
    }
}

impl RunReport {
    /// Returns the result in two or three sentences, as at the top of the page.
    pub fn lead(&self) -> String {
        let mut ranked: Vec<(f64, &EncodingSystemStatistics)> =
            (self.statistics.per_encoding.iter())
                .filter_map(|encoding| Some((encoding.total.mean?, encoding)))
                .collect();
        ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        // A correct critical flag makes a score meaningless, so flagged encodings are not ranked.
        let (flagged, ranked): (Vec<_>, Vec<_>) = ranked
            .into_iter()
            .partition(|(_, encoding)| is_flagged(self, &encoding.encoding_id));
        let outcomes = &self.outcomes;
        let mut sentences = match ranked.as_slice() {
            [] if outcomes.items == 0 => {
                return "There is no experiment in this report.".to_owned();
            }
            [] if flagged.is_empty() => return unscored(self),
            [] => Vec::new(),
            [(total, only)] => vec![
                format!(
                    "{} scores {total:.1} of 100 points on {}{}.",
                    only.encoding_id,
                    counted(only.scored_cases, "text", "texts"),
                    reach(only),
                ),
                merits(only),
            ],
            [(total, best), (next, second), ..] => vec![
                if format!("{total:.1}") == format!("{next:.1}") {
                    format!(
                        "{} and {} share the best score: {total:.1} of 100 points on {}.",
                        best.encoding_id,
                        second.encoding_id,
                        counted(best.scored_cases, "text", "texts"),
                    )
                } else {
                    format!(
                        "{} scores best: {total:.1} of 100 points on {}{}; {} follows with {next:.1}.",
                        best.encoding_id,
                        counted(best.scored_cases, "text", "texts"),
                        reach(best),
                        second.encoding_id,
                    )
                },
                merits(best),
                ahead(self, &best.encoding_id, &second.encoding_id),
            ],
        };
        sentences.push(left_out(&flagged));
        sentences.push(without_rules(self));
        if outcomes.failed > 0 {
            sentences.push(format!(
                "{} of {} failed and {} not counted in any mean.",
                outcomes.failed,
                counted(outcomes.items, "experiment", "experiments"),
                if outcomes.failed == 1 { "is" } else { "are" },
            ));
        }
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join(" ")
    }
}

/// Whether a result of the encoding carries a critical flag.
fn is_flagged(report: &RunReport, encoding: &str) -> bool {
    let mut own = (report.results.iter()).filter(|result| result.encoding_id == encoding);
    own.any(|result| {
        let mut flags = result.flags.iter();
        flags.any(|flag| flag.severity == Severity::Critical)
    })
}

/// Returns a sentence on the encodings that are not ranked; empty if all are.
fn left_out(flagged: &[(f64, &EncodingSystemStatistics)]) -> String {
    const NAMED: usize = 5;
    let scored = flagged.iter().take(NAMED);
    let names: Vec<String> = scored
        .map(|(total, encoding)| format!("{} ({total:.1})", encoding.encoding_id))
        .collect();
    let more = match flagged.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match flagged.len() {
        0 => String::new(),
        count => format!(
            "{}{more} {} not ranked: results carry critical flags.",
            names.join(", "),
            if count == 1 { "is" } else { "are" },
        ),
    }
}

/// Returns a sentence on results without a total because no rules were given; empty if every result has a total.
fn without_rules(report: &RunReport) -> String {
    match report.outcomes.partial {
        0 => String::new(),
        count => format!(
            "{} scored of 95 points because no rules were given, and not counted in a mean of totals.",
            counted(count, "experiment is", "experiments are")
        ),
    }
}

fn unscored(report: &RunReport) -> String {
    if report.outcomes.partial > 0 {
        return without_rules(report);
    }
    let most = report.outcomes.counts.iter().max_by_key(|row| row.count);
    let most = most.map_or_else(String::new, |row| {
        let stage = (row.stage).map_or_else(String::new, |stage| format!(" at {stage}"));
        format!(" Most often: {}{stage} ({}).", row.status, row.count)
    });
    format!(
        "No scores from {}.{most}",
        counted(report.outcomes.items, "experiment", "experiments")
    )
}

/// Returns the interval of a total; empty for one text, whose repeats say nothing about other texts.
fn reach(encoding: &EncodingSystemStatistics) -> String {
    let interval = encoding.total.ci95.filter(|_| encoding.scored_cases > 1);
    interval.map_or_else(String::new, |ci| {
        format!(" (95 % interval {:.1} to {:.1})", ci.low, ci.high)
    })
}

/// Returns a sentence on saved tokens and kept meaning.
fn merits(encoding: &EncodingSystemStatistics) -> String {
    let saved = encoding.compression_percent.mean;
    let (Some(saved), Some(kept)) = (saved, encoding.semantic_preservation.mean) else {
        return String::new();
    };
    let than = if saved < 0.0 { "more" } else { "fewer" };
    format!(
        "Texts encoded by {} have {:.1} % {than} tokens, and decoders that never saw the originals kept {kept:.1} of 40 points for meaning.",
        encoding.encoding_id,
        saved.abs(),
    )
}

/// Returns a sentence on the difference between the best and the second encoding, and its significance.
fn ahead(report: &RunReport, best: &str, second: &str) -> String {
    let pair =
        report.statistics.pairwise.iter().find(|pair| {
            (pair.a == best && pair.b == second) || (pair.a == second && pair.b == best)
        });
    let Some((pair, difference, p)) =
        pair.and_then(|pair| Some((pair, pair.mean_difference?, pair.p_holm?)))
    else {
        return "The two have no scored text in common.".to_owned();
    };
    let difference = if pair.a == best {
        difference
    } else {
        -difference
    };
    let verdict = if p <= SIGNIFICANT {
        "is significant"
    } else {
        "is not significant"
    };
    format!(
        "On their {} the difference of {difference:.1} points {verdict} ({}).",
        counted(pair.cases, "common text", "common texts"),
        probability(p),
    )
}

/// Writes a p value for a cell, with three decimals or as `< 0.001`.
pub(super) fn p_figure(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// Returns the label of origin.
pub(super) fn origin(report: &RunReport) -> (Status, String) {
    if report.offline {
        let text = "Offline: no model was asked. A program encoded and decoded, and the points for meaning measure common words; no judge gave them.";
        return (Status::Caution, text.to_owned());
    }
    if report.replayed {
        let text = "Replayed: every reply comes from a recording. Nothing was sent, and the same recording gives the same numbers.";
        return (Status::Info, text.to_owned());
    }
    let models = report.results.iter().map(|result| &result.metadata.models);
    let models: BTreeSet<&str> = models
        .flat_map(|models| [models.encoder.as_str(), models.decoder.as_str()])
        .filter(|model| !model.is_empty())
        .collect();
    let from = match Vec::from_iter(models).join(", ") {
        none if none.is_empty() => "an unknown model".to_owned(),
        models => models,
    };
    let day = report.created_at.split('T').next().unwrap_or_default();
    let on = if day.is_empty() {
        String::new()
    } else {
        format!(" on {day}")
    };
    (Status::Info, format!("Recorded from {from}{on}."))
}

/// Returns the notices on the limits of the results, the most important one first.
pub(super) fn notices(report: &RunReport) -> Vec<(Status, String)> {
    let mut notices = Vec::new();
    if report.encodings_left_out > 0 {
        let shown = report.encodings.len();
        let all = shown + report.encodings_left_out;
        let text = format!(
            "A selection: {shown} of {} of the run. Significance is adjusted for these only.",
            counted(all, "encoding system", "encoding systems")
        );
        notices.push((Status::Caution, text));
    }
    let mut results = report.results.iter();
    if results.any(|result| result.metadata.prompt_profile == PromptProfile::Own) {
        let text = "The judge of the meaning had a prompt of the user: points for meaning and learnability, and totals, are not comparable with those of the built-in prompts.";
        notices.push((Status::Caution, text.to_owned()));
    }
    let counts = report.outcomes.counts.iter();
    let unsent: usize = counts
        .filter(|row| row.status == StageStatus::NotRun)
        .map(|row| row.count)
        .sum();
    if unsent > 0 {
        let text = format!(
            "The run was cut short: {} not run.",
            counted(unsent, "experiment was", "experiments were")
        );
        notices.push((Status::Caution, text));
    }
    let critical = |result: &&ExperimentResult| {
        let mut flags = result.flags.iter();
        flags.any(|flag| flag.severity == Severity::Critical)
    };
    let critical = report.results.iter().filter(critical).count();
    if critical > 0 {
        let text = format!(
            "{} a critical flag: if it is right, the score means nothing. See Flags.",
            counted(critical, "result carries", "results carry")
        );
        notices.push((Status::Bad, text));
    }
    if let Some(text) = uncertain(report) {
        notices.push((Status::Caution, text));
    }
    let scored = report.statistics.per_encoding.iter();
    let unequal = scored
        .map(|encoding| encoding.scored_cases)
        .collect::<BTreeSet<_>>();
    if unequal.len() > 1 {
        let text = "The encoding systems have scores for different texts, so their means cannot be compared. The paired comparison uses common texts only.";
        notices.push((Status::Caution, text.to_owned()));
    }
    notices
}

/// Returns a sentence on judges' scores that were recovered from other text or clamped to their range, if there are any.
fn uncertain(report: &RunReport) -> Option<String> {
    let count = |pick: fn(&JudgeRecord) -> bool| {
        let results = report.results.iter().filter(|result| is_scored(result));
        let details = results.map(|result| &result.details);
        let records = details.map(|d| [&d.semantic_judge, &d.implementability_judge]);
        records
            .filter(|records| {
                records
                    .iter()
                    .any(|record| record.as_ref().is_some_and(pick))
            })
            .count()
    };
    let recovered = count(|record| record.status == JudgeStatus::Recovered);
    let clamped = count(|record| record.clamped);
    (recovered + clamped > 0).then(|| {
        format!(
            "Judge scores recovered from a reply of another form: in {}. Scores clamped to their range: in {}. Each is marked in its result.",
            counted(recovered, "result", "results"),
            counted(clamped, "result", "results"),
        )
    })
}

/// Returns the settings that are needed to repeat the run.
pub(super) fn provenance(report: &RunReport) -> Section {
    let metadata = || report.results.iter().map(|result| &result.metadata);
    let (tokens, config) = (&report.cost.tokens_spent, &report.config);
    let code = |text: &str| match text {
        "" => Cell::Missing,
        text => Cell::code(text),
    };
    let mut facts = vec![
        ("Started", Cell::text(&report.created_at)),
        (
            "Provider",
            several(metadata().map(|m| m.provider.to_string())),
        ),
        (
            "Encoder",
            several(metadata().map(|m| m.models.encoder.clone())),
        ),
        (
            "Decoder",
            several(metadata().map(|m| m.models.decoder.clone())),
        ),
        (
            "Judges",
            several(metadata().flat_map(|m| m.models.judges.clone())),
        ),
        (
            "Prompts",
            several(metadata().map(|m| word(&m.prompt_profile))),
        ),
        (
            "Token source",
            several(metadata().filter_map(|m| m.token_source).map(|s| word(&s))),
        ),
        ("Calls", report.cost.calls.into()),
        ("Tokens in", tokens.input.into()),
        ("Tokens out", tokens.output.into()),
        (
            "Cost, US dollars",
            report
                .cost
                .usd
                .map(crate::metrics::cost::dollars::written)
                .into(),
        ),
        ("Retries", report.cost.retries.into()),
    ];
    let temperatures = metadata().filter_map(|m| m.temperature);
    let of_judges = metadata().filter_map(|m| m.judge_temperature);
    let sampled = [
        ("Temperature", temperatures.collect::<Vec<_>>()),
        ("Judges' temperature", of_judges.collect()),
    ];
    for (name, values) in sampled {
        if !values.is_empty() {
            facts.push((name, several(values.iter().map(f64::to_string))));
        }
    }
    if let Some(config) = config {
        facts.extend([
            ("Encodings per text", config.trials.into()),
            ("Decodings per encoded text", config.decodes.into()),
            ("Samples per judge", config.judge_samples.into()),
        ]);
    }
    facts.extend([
        ("Random seed", report.randomness.seed.into()),
        (
            "Random generator",
            Cell::text(&*report.randomness.algorithm),
        ),
        (
            "Version of the run",
            several(metadata().map(|m| m.engine_version.to_string())),
        ),
        ("Version of this page", Cell::text(&report.engine_version)),
    ]);
    let prompts = metadata().next().map(|metadata| &metadata.prompt_sha256);
    if let Some(prompts) = prompts {
        facts.extend([
            (
                "Encoder's prompt, first result (SHA-256)",
                code(&prompts.encoder),
            ),
            ("Decoder's prompt", code(&prompts.decoder)),
            ("Semantic judge's prompt", code(&prompts.semantic_judge)),
            (
                "Implementability judge's prompt",
                code(&prompts.implementability_judge),
            ),
        ]);
    }
    Section::new("Provenance")
        .anchor("provenance")
        .facts(facts)
        .command("Writes this page", "zer0gravity report RESULTS.json")
        .command(
            "Compares with another run",
            "zer0gravity compare RESULTS.json OTHER.json",
        )
}

/// Returns the first few distinct values.
fn several(values: impl Iterator<Item = String>) -> Cell {
    const SHOWN: usize = 6;
    let mut different: Vec<String> = Vec::new();
    for value in values.filter(|value| !value.is_empty()) {
        if !different.contains(&value) {
            different.push(value);
        }
    }
    let more = different.len().saturating_sub(SHOWN);
    different.truncate(SHOWN);
    match (different.is_empty(), more) {
        (true, _) => Cell::Missing,
        (false, 0) => Cell::text(different.join(", ")),
        (false, more) => Cell::text(format!("{} and {more} more", different.join(", "))),
    }
}
