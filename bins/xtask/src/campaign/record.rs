//! The record of a campaign: the facts that its cassette and its ledgers contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::money::Dollars;
use crate::Error;

/// The facts of a cassette.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The number of calls that ended.
    pub calls: u64,
    /// The models as the server named them in its answers.
    pub models: BTreeSet<String>,
    pub providers: BTreeSet<String>,
    /// The day of the first line.
    pub day: Option<String>,
}

impl Record {
    /// Reads a cassette; without a file there is no call.
    pub fn read(cassette: &Path) -> Result<Self, Error> {
        let mut record = Self::default();
        let mut ended = BTreeSet::new();
        for line in lines(cassette)? {
            let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
            if record.day.is_none() {
                record.day = line["t"]
                    .as_str()
                    .map(|time| time.chars().take(10).collect());
            }
            record.providers.insert(text(&line["provider"]));
            record.models.extend(answered_model(&line["response"]));
            let is_over = line["final_hint"] == true && line["error"]["kind"] != "cancelled";
            if is_over {
                ended.insert((text(&line["root"]), line["n"].as_u64()));
            }
        }
        record.calls = ended.len() as u64;
        Ok(record)
    }
}

/// The model that a response names, whole or in the events of a stream.
fn answered_model(response: &Value) -> Option<String> {
    let of = |body: &Value| {
        let found = body["model"].as_str().or(body["message"]["model"].as_str());
        found.map(str::to_owned)
    };
    let events = response["events"].as_array().into_iter().flatten();
    let data = events.filter_map(|event| serde_json::from_str(event["data"].as_str()?).ok());
    of(&response["body"]).or_else(|| data.into_iter().find_map(|data: Value| of(&data)))
}

/// The sum of a ledger: the charges, and the whole of what is reserved and not settled.
pub fn ledger(path: &Path) -> Result<Dollars, Error> {
    let mut open = BTreeMap::new();
    let mut sum = 0;
    for line in lines(path)? {
        let key = (line["run_id"].as_i64(), line["id"].to_string());
        let nanos = |part: &str| line[part]["nano_usd"].as_i64().unwrap_or_default();
        if line["reserve"].is_object() {
            open.insert(key, nanos("reserve"));
        } else if open.remove(&key).is_some() && line["settle"]["how"] != "refund" {
            sum += nanos("settle");
        }
    }
    Ok(Dollars(sum + open.values().sum::<i64>()))
}

/// The JSON lines of a file. A torn last line is left out.
fn lines(path: &Path) -> Result<Vec<Value>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(Error::File { path, source });
        }
    };
    let whole = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(whole.collect())
}

/// The label of a record, with the warning that a small model demands.
pub fn label(record: &Record, spent: Dollars, cut: Option<u64>) -> String {
    let join = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" and ");
    let Some(day) = &record.day else {
        return "offline (scripted, no model)".to_owned();
    };
    let models = match join(&record.models) {
        none if none.is_empty() => "a model that gave no answer".to_owned(),
        models => models,
    };
    let providers = join(&record.providers);
    let mut parts = vec![format!(
        "recorded from {models} via {providers} on {day}, {spent}"
    )];
    if let Some(millions) = record.models.iter().find_map(|model| millions(model)) {
        parts.push(format!(
            "shape only: a {millions}-million-parameter model; scores mean nothing"
        ));
    }
    if let Some(calls) = cut {
        parts.push(format!(
            "cut at {spent} after {} of {calls} calls",
            record.calls
        ));
    }
    parts.join("; ")
}

/// The millions of parameters in the name of a model, such as 135 in `SmolLM2-135M-Instruct`.
fn millions(model: &str) -> Option<u32> {
    let parts = model.split(|c: char| !c.is_ascii_alphanumeric());
    parts.into_iter().find_map(|part| {
        let digits = part.strip_suffix(['M', 'm'])?;
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_where_the_answers_come_from() {
        let set = |name: &str| BTreeSet::from([name.to_owned()]);
        let mut record = Record::default();
        assert_eq!(
            label(&record, Dollars(0), None),
            "offline (scripted, no model)"
        );
        record = Record {
            calls: 120,
            models: set("claude-opus-5-5"),
            providers: set("anthropic"),
            day: Some("2026-11-26".to_owned()),
        };
        let spent = Dollars(1_980_000_000);
        assert_eq!(
            label(&record, spent, Some(144)),
            "recorded from claude-opus-5-5 via anthropic on 2026-11-26, $1.98; cut at $1.98 after 120 of 144 calls"
        );
        record.models.clear();
        assert_eq!(
            label(&record, spent, None),
            "recorded from a model that gave no answer via anthropic on 2026-11-26, $1.98"
        );
        record.models = set("SmolLM2-135M-Instruct");
        assert!(
            label(&record, Dollars(0), None)
                .ends_with("; shape only: a 135-million-parameter model; scores mean nothing")
        );
    }

    #[test]
    fn a_ledger_counts_what_is_not_settled_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spend.jsonl");
        assert_eq!(ledger(&path).unwrap(), Dollars(0));
        let text = r#"{"schema_version":1,"id":"00","reserve":{"nano_usd":50,"tokens":9}}
{"schema_version":1,"id":"00","settle":{"nano_usd":7,"tokens":9,"how":"usage"}}
{"schema_version":1,"id":"01","reserve":{"nano_usd":60,"tokens":9}}
{"schema_version":1,"id":"02","reserve":{"nano_usd":900,"tokens":9}}
{"schema_version":1,"id":"02","settle":{"nano_usd":900,"tokens":9,"how":"refund"}}
{"schema_version":1,"id":"03","res"#;
        fs::write(&path, text).unwrap();
        assert_eq!(ledger(&path).unwrap(), Dollars(67));
    }
}
