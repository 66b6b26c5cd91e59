//! The settings in results, and their differences between two runs.

use std::collections::BTreeSet;

use crate::ExperimentResult;
use crate::report::export::word;
use crate::result::Metadata;

/// The distinct values of one setting in the results of a run.
type Values = BTreeSet<String>;
/// A function that returns a setting of a result.
type Setting = fn(&ExperimentResult) -> String;

const SETTINGS: [(&str, Setting); 13] = [
    ("metadata.models.encoder", |r| {
        r.metadata.models.encoder.clone()
    }),
    ("metadata.models.decoder", |r| {
        r.metadata.models.decoder.clone()
    }),
    ("metadata.models.judges", |r| {
        r.metadata.models.judges.join(" and ")
    }),
    ("metadata.temperature", |r| number(r.metadata.temperature)),
    ("metadata.judgeTemperature", |r| {
        number(r.metadata.judge_temperature)
    }),
    ("metadata.provider", |r| r.metadata.provider.to_string()),
    ("metadata.promptProfile", |r| {
        word(&r.metadata.prompt_profile)
    }),
    ("metadata.promptSha256.semanticJudge", |r| {
        r.metadata.prompt_sha256.semantic_judge.clone()
    }),
    ("metadata.promptSha256.implementabilityJudge", |r| {
        r.metadata.prompt_sha256.implementability_judge.clone()
    }),
    ("metadata.rubricSha256", |r| {
        r.metadata.rubric_sha256.clone().unwrap_or_default()
    }),
    ("metadata.tokenSource", |r| {
        r.metadata
            .token_source
            .map(|source| word(&source))
            .unwrap_or_default()
    }),
    ("offline", |r| r.offline.to_string()),
    ("metadata.engineVersion", |r| {
        r.metadata.engine_version.to_string()
    }),
];

/// The settings that are compared only if the rules are equal, because these prompts contain the rules.
const WITH_RULES: [(&str, Setting); 2] = [
    ("metadata.promptSha256.encoder", |r| {
        r.metadata.prompt_sha256.encoder.clone()
    }),
    ("metadata.promptSha256.decoder", |r| {
        r.metadata.prompt_sha256.decoder.clone()
    }),
];

/// Returns the settings in which two runs differ, with the old and new values; empty if one run has no results.
pub(super) fn differences(old: &[ExperimentResult], new: &[ExperimentResult]) -> Vec<String> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let rules: Setting = |result| result.metadata.rules_sha256.to_string();
    let same_rules = values(old, rules) == values(new, rules);
    let prompts = WITH_RULES.into_iter().filter(|_| same_rules);
    let pairs = SETTINGS
        .into_iter()
        .chain(prompts)
        .map(|(name, setting)| (name, values(old, setting), values(new, setting)));
    pairs
        .filter(|(_, old, new)| old != new)
        .map(|(name, old, new)| format!("{name}: {} -> {}", listed(&old), listed(&new)))
        .collect()
}

/// Returns the judges of both runs, if they differ in model or prompt.
pub(super) fn judges(old: &[ExperimentResult], new: &[ExperimentResult]) -> Option<[String; 2]> {
    let identity: Setting = |result| {
        let hashes = &result.metadata.prompt_sha256;
        let prompts = format!(
            "{} {}",
            hashes.semantic_judge, hashes.implementability_judge
        );
        // Offline no model reads a prompt, but a program of some version.
        if result.offline {
            format!(
                "{} {:?}",
                panel(&result.metadata),
                result.details.lexical_judge_version
            )
        } else {
            format!("{} {prompts}", panel(&result.metadata))
        }
    };
    if old.is_empty() || new.is_empty() || values(old, identity) == values(new, identity) {
        return None;
    }
    let shown: Setting = |result| {
        format!(
            "{}/{}",
            panel(&result.metadata),
            word(&result.metadata.prompt_profile)
        )
    };
    let mut shown = [old, new].map(|results| listed(&values(results, shown)));
    if shown[0] == shown[1] {
        // Both runs have the same prompt profile, but a rescore may have used other prompts.
        let hash: Setting = |result| {
            let hash: String = result
                .metadata
                .prompt_sha256
                .semantic_judge
                .chars()
                .take(8)
                .collect();
            match result
                .details
                .lexical_judge_version
                .filter(|_| result.offline)
            {
                Some(version) => format!("{} version {version}", panel(&result.metadata)),
                None if result.offline => format!("{} version 1", panel(&result.metadata)),
                None => format!("{} with prompt {hash}", panel(&result.metadata)),
            }
        };
        shown = [old, new].map(|results| listed(&values(results, hash)));
    }
    Some(shown)
}

/// The judges, with their temperature if the plan sets one: at another one they are other judges.
fn panel(metadata: &Metadata) -> String {
    let judges = metadata.models.judges.join(" and ");
    match metadata.judge_temperature {
        Some(temperature) => format!("{judges} at temperature {temperature}"),
        None => judges,
    }
}

fn number(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn values(results: &[ExperimentResult], setting: Setting) -> Values {
    results.iter().map(setting).collect()
}

/// Writes one value as it is, and several as a set in braces.
fn listed(values: &Values) -> String {
    let all: Vec<&str> = values.iter().map(String::as_str).collect();
    match all.as_slice() {
        [""] | [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        several => format!("{{{}}}", several.join(", ")),
    }
}
