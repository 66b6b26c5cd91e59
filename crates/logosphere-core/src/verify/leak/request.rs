//! The content of requests besides the prompt.

use serde_json::{Map, Value};

use super::finding::Findings;
use super::finding::{LeakKind, Severity};
use super::headers::check_name;
use crate::config::{ModelSettings, Settings};
use crate::format::PromptRole;
use crate::journal::RequestTemplate;
use crate::mind::PROBE;

/// Searches the constant part of the requests of a mind for content from neither the prompt nor the settings.
pub(super) fn check_template(
    template: &RequestTemplate,
    settings: &Settings,
    model: &ModelSettings,
    found: &mut Findings,
) {
    for name in &template.header_names {
        check_name(name, "request_template.header_names", found);
    }
    let mut leak = |kind, about: &str, detail: String| {
        let place = "request_template.body";
        found.add(Severity::Leak, kind, about, place, detail);
    };
    let Ok(Value::Object(body)) = serde_json::from_slice(&template.fill(PROBE)) else {
        leak(
            LeakKind::Body,
            "",
            "it is not a JSON object, so its content is unknown".to_owned(),
        );
        return;
    };
    for (name, value) in &body {
        if name == "messages" || name == "system" {
            continue;
        }
        if !is_expected(name, value, model) {
            let value = shown_json(value);
            leak(
                LeakKind::Field,
                name,
                format!("field `{name}` with {value} is not a setting of the run"),
            );
        }
    }
    for (place, text) in odd_turns(&body, settings) {
        leak(
            LeakKind::Turn,
            &place,
            format!("`{place}` with {} is not the prompt", shown(&text)),
        );
    }
}

/// Returns whether a field of a body follows from the settings.
fn is_expected(name: &str, value: &Value, model: &ModelSettings) -> bool {
    let options = &model.options;
    let number = |set: Option<f64>| set.is_some() && value.as_f64() == set;
    let effort = options.reasoning.as_deref();
    let only_effort = |value: &Value| {
        let fields = value.as_object();
        fields.is_some_and(|fields| fields.len() == 1) && value["effort"].as_str() == effort
    };
    match name {
        "model" => value.as_str() == Some(&model.model),
        "max_tokens" | "max_completion_tokens" => {
            // A model that writes less has a lower one.
            (value.as_u64()).is_some_and(|most| most <= model.token_limit.into())
        }
        "temperature" => number(options.temperature),
        "top_p" => number(options.top_p),
        "seed" => options.seed.is_some() && value.as_u64() == options.seed,
        "reasoning_effort" => effort.is_some() && value.as_str() == effort,
        "reasoning" => effort.is_some() && (value.as_str() == effort || only_effort(value)),
        "output_config" => effort.is_some() && only_effort(value),
        "stream" => value == &Value::Bool(true),
        "stream_options" => *value == serde_json::json!({"include_usage": true}),
        _ => false,
    }
}

/// Returns the values of the messages that are neither the prompt nor part of the message format.
fn odd_turns(body: &Map<String, Value>, settings: &Settings) -> Vec<(String, String)> {
    let mut leaves = Vec::new();
    for name in ["system", "messages"] {
        if let Some(value) = body.get(name) {
            collect(name.to_owned(), value, &mut leaves);
        }
    }
    // Each may stand there once.
    let mut expected = vec![PROBE];
    if settings.prompt().role() == PromptRole::System && !settings.system_prompt.is_empty() {
        expected.push(&settings.system_prompt);
    }
    leaves.retain(|(place, leaf)| {
        let name = place.rsplit('.').next().unwrap_or_default();
        let text = leaf.as_str().unwrap_or_default();
        match name {
            "role" => !["user", "system", "developer"].contains(&text),
            "type" => text != "text",
            _ => match expected.iter().position(|expected| *expected == text) {
                Some(at) => {
                    expected.swap_remove(at);
                    false
                }
                None => true,
            },
        }
    });
    let mut odd: Vec<_> = (leaves.into_iter())
        .map(|(place, leaf)| (place, leaf.to_string()))
        .collect();
    if !expected.is_empty() {
        odd.push(("messages".to_owned(), "the prompt missing".to_owned()));
    }
    odd
}

fn collect<'a>(place: String, value: &'a Value, leaves: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(format!("{place}.{name}"), value, leaves);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                collect(format!("{place}[{at}]"), value, leaves);
            }
        }
        leaf => leaves.push((place, leaf)),
    }
}

/// Returns the first 60 characters of a value.
pub(super) fn shown_json(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the first 60 characters of a text, quoted.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
