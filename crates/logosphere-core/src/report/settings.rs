//! The sections with all settings and with the commands that check the run.

use report_kit::{Cell, Section};
use serde_json::Value;

use super::facts::RunFacts;
use super::shown::counted;

pub(super) fn section(facts: &RunFacts) -> Section {
    let settings = serde_json::to_value(&facts.settings).unwrap_or_default();
    let mut shown = Vec::new();
    flatten("", &settings, &mut shown);
    // The system prompt is shown below, as it is sent.
    shown.retain(|(name, _)| name != "system_prompt");
    let first = &facts.start.request_template;
    let templates = [first].into_iter().chain(&first.further);
    let bodies: Vec<_> = templates
        .map(|template| template.body.join("\u{2026}"))
        .collect();
    Section::new("Settings")
        .anchor("settings")
        .facts(shown)
        .code("The system prompt", &facts.start.system_prompt)
        .code(
            "The body of every request, with \u{2026} in place of the prompt",
            bodies.join("\n"),
        )
}

/// Appends names and values. Names in inner objects get the outer name as a prefix.
fn flatten(name: &str, value: &Value, out: &mut Vec<(String, Cell)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                flatten(&name, value, out);
            }
        }
        Value::Null => out.push((name.to_owned(), Cell::Missing)),
        Value::String(text) => out.push((name.to_owned(), Cell::code(text))),
        other => out.push((name.to_owned(), Cell::code(other.to_string()))),
    }
}

pub(super) fn verify(facts: &RunFacts) -> Section {
    let effective = &facts.start.effective;
    Section::new("Verification")
        .anchor("verify")
        .text("This page is generated from the journal alone, and the same journal gives the same bytes. DIR is the directory of the experiment.")
        .code(
            "Commands",
            "logosphere verify DIR    rebuilds every sample, prompt, hash, parse, id and total\n\
             logosphere replay DIR    rebuilds the journal from itself, byte for byte, without a network\n\
             logosphere leak DIR      checks that minds received nothing but messages\n\
             logosphere report DIR    this page",
        )
        .facts([
            ("Run", Cell::code(&facts.start.run_id)),
            ("Journal", Cell::text(counted(facts.lines, "line", "lines"))),
            ("Chain of its last line", Cell::code(&facts.chain)),
            ("Software", Cell::text(&facts.start.software)),
            (
                "Samples",
                Cell::text(format!(
                    "{}, seed {}",
                    facts.start.rng.algorithm, facts.start.rng.seed
                )),
            ),
            (
                "SHA-256 of the system prompt",
                Cell::code(&facts.start.system_prompt_sha256),
            ),
            ("SHA-256 of init.md", Cell::code(&facts.start.init_sha256)),
            ("SHA-256 of config.json", Cell::code(&effective.config_sha256)),
        ])
}
