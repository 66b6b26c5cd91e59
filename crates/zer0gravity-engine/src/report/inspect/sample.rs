//! The samples of a log: one for each result whose turn came.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::super::export::word;
use super::super::grouped::{implementability, semantic, token_efficiency, total};
use super::super::{RunReport, own};
use crate::plan::RoleConfig;
use crate::prompts::{PromptProfile, RoleInput};
use crate::{ExperimentResult, StageName, StageRecord};

/// The built-in scores in the order of a log: readers take the first one for the headline.
const MEASURES: [&str; 4] = [
    "total",
    "semantic_preservation",
    "implementability",
    "token_efficiency",
];

/// The names of all scores: the built-in ones, then those of the user's rubric.
pub(super) fn names(results: &[ExperimentResult]) -> Vec<&str> {
    let own = own::scorers(results).into_iter().map(|(id, _)| id);
    let own = own.filter(|id| !MEASURES.contains(id));
    MEASURES.into_iter().chain(own).collect()
}

/// The points of a result, if it has them; a failed one has none.
pub(super) fn points(result: &ExperimentResult, name: &str) -> Option<f64> {
    match name {
        "total" => total(result),
        "semantic_preservation" => semantic(result),
        "implementability" => implementability(result),
        "token_efficiency" => token_efficiency(result),
        own => own::score(result, own).filter(|_| result.outcome.is_ok()),
    }
}

/// The judge's reason for the points.
fn reason(result: &ExperimentResult, name: &str) -> Option<String> {
    let reason = match name {
        "total" | "token_efficiency" => return None,
        "semantic_preservation" => result.details.semantic_reasoning.as_ref()?,
        "implementability" => result.details.implementability_reasoning.as_ref()?,
        own => return own::find(result, own)?.reasoning.clone(),
    };
    let text = reason.as_str().map(str::to_owned);
    text.or_else(|| Some(reason.to_string()))
}

/// One sample for each result whose turn came. No two have the same id and epoch.
pub(super) fn samples(report: &RunReport) -> Vec<Value> {
    let results = report.results.iter();
    let decodes = match &report.config {
        Some(config) => config.decodes,
        None => results.clone().map(|one| one.decode).max().unwrap_or(1),
    };
    let numbered = results
        .filter(|one| !one.outcome.is_stopped())
        .map(|result| {
            let text = (&result.encoding_id, &result.test_case_id);
            let trials = u64::from(result.trial.saturating_sub(1));
            let epoch = trials * u64::from(decodes) + u64::from(result.decode);
            (result, text, epoch)
        });
    let mut last: HashMap<_, u64> = HashMap::new();
    for (_, text, epoch) in numbered.clone() {
        let last = last.entry(text).or_default();
        *last = epoch.max(*last);
    }
    let mut taken = HashSet::new();
    let samples = numbered.map(|(result, text, mut epoch)| {
        if !taken.insert((text, epoch)) {
            // A list may have a result twice.
            let last = last.entry(text).or_default();
            *last += 1;
            epoch = *last;
        }
        sample(result, epoch)
    });
    samples.collect()
}

fn sample(result: &ExperimentResult, epoch: u64) -> Value {
    // The first slash of an id is the one between encoding system and text.
    let encoding = result.encoding_id.replace('%', "%25").replace('/', "%2F");
    let mut sample = json!({
        "id": format!("{encoding}/{}", result.test_case_id),
        "epoch": epoch,
        "input": *result.original_text,
        "target": *result.original_text,
        "messages": messages(result),
        "output": output(result),
        "metadata": {
            "encodingId": result.encoding_id,
            "testCaseId": result.test_case_id,
            "level": result.level,
            "trial": result.trial,
            "decode": result.decode,
            "outcome": result.outcome.status.as_str(),
            "originalTokens": result.original_tokens,
            "encodedTokens": result.encoded_tokens,
            "tokenSource": result.metadata.token_source.map(|source| word(&source)),
            "rulesSha256": *result.metadata.rules_sha256,
        },
    });
    match failure(result) {
        Some(error) => sample["error"] = error,
        None => sample["scores"] = scores(result).into(),
    }
    sample
}

/// The failure of a result. The viewer shows `traceback_ansi` alone, as a terminal would.
pub(super) fn failure(result: &ExperimentResult) -> Option<Value> {
    let outcome = &result.outcome;
    let said = || result.error.clone().or_else(|| outcome.sentence());
    (!outcome.is_ok()).then(|| {
        let message = said().unwrap_or_else(|| outcome.status.to_string());
        let shown = message.replace(|char: char| char.is_control() && char != '\n', "");
        json!({"message": message, "traceback": "", "traceback_ansi": shown})
    })
}

fn scores(result: &ExperimentResult) -> Map<String, Value> {
    let names = names(std::slice::from_ref(result)).into_iter();
    let scores = names.filter_map(|name| {
        let mut score = json!({
            "value": points(result, name)?,
            "answer": result.decoded_text,
            "explanation": reason(result, name),
        });
        if name == "semantic_preservation" {
            let atoms = result.metrics.as_ref().and_then(|it| it.atoms.as_deref());
            score["metadata"] = json!({"flags": result.flags, "atoms": atoms});
        }
        Some((name.to_owned(), score))
    });
    scores.collect()
}

/// The conversation with the encoder. The system prompt is left out where no model was asked, and where that of this version is
/// not the one that was sent.
fn messages(result: &ExperimentResult) -> Vec<Value> {
    let (text, metadata) = (&*result.original_text, &result.metadata);
    let rules = &*result.encoding_system;
    let mut config = RoleConfig::new(metadata.models.encoder.as_str());
    config.seed = metadata.randomness.seed;
    config.repeat.trial = Some(result.trial);
    let encode = stage(result, StageName::Encode);
    let is_asked = encode.is_some_and(|stage| stage.attempts > 0) && !result.offline;
    // The profile of a result may be that of its judge.
    let profiles = [
        PromptProfile::Plain,
        PromptProfile::Bands,
        PromptProfile::Guarded,
    ];
    let sent = profiles.into_iter().find_map(|profile| {
        config.profile = profile;
        let prompt = config.request(RoleInput::Encode { rules, text }).prompt;
        (is_asked && prompt.sha256 == metadata.prompt_sha256.encoder).then_some(prompt)
    });
    let mut messages = if let Some(prompt) = sent {
        let system = json!({"role": "system", "content": prompt.system});
        let turns = prompt.messages.iter().map(|turn| json!(turn));
        std::iter::once(system).chain(turns).collect()
    } else {
        vec![json!({"role": "user", "content": text})]
    };
    if let Some(encoded) = &result.encoded_text {
        messages.push(json!({"role": "assistant", "content": **encoded}));
    }
    messages
}

/// The reply of the decoder, if there is one.
fn output(result: &ExperimentResult) -> Value {
    let decoded = result.decoded_text.as_deref();
    let choice = decoded.map(|text| json!({"message": {"role": "assistant", "content": text}}));
    let usage = stage(result, StageName::Decode).and_then(|stage| stage.usage);
    json!({
        "model": result.metadata.models.decoder,
        "choices": Vec::from_iter(choice),
        "completion": decoded.unwrap_or_default(),
        "usage": usage.map(|usage| json!({
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.input.saturating_add(usage.output),
        })),
    })
}

fn stage(result: &ExperimentResult, name: StageName) -> Option<&StageRecord> {
    result.stages.iter().find(|stage| stage.stage == name)
}
