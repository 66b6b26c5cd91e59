//! A report as a log of Inspect, the evaluation framework `inspect_ai`: its JSON form, version 2.

mod sample;

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::sample::{failure, names, points, samples};
use super::RunReport;
use super::grouped::{average, figure, groups};
use crate::plan::{Config, EncodingSystem, Plan};
use crate::result::timestamp;
use crate::text::hash::sha256_hex;
use crate::{ExperimentResult, StageStatus};

/// The version of the form: readers of Inspect refuse a higher one.
const LOG_VERSION: u32 = 2;

/// The task of every log, also in the name of its file.
const TASK: &str = "zer0gravity";

/// The characters of an id, as many as Inspect's own ids have.
const ID_LENGTH: usize = 22;

/// The samples are last, because a reader of the header alone stops before them.
#[derive(Serialize)]
struct Log {
    version: u32,
    status: &'static str,
    eval: Value,
    plan: Value,
    results: Value,
    stats: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    samples: Vec<Value>,
}

/// The report as a log of Inspect: JSON, two spaces of indent, a line feed at the end.
///
/// The task is `zer0gravity`. A sample is a text with an encoding system, and each of its trials and decodes is an epoch. All
/// times are those of the report and all ids are hashes, so that the same report gives the same bytes.
///
/// ```
/// use zer0gravity_engine::report::{RunReport, export_inspect};
/// let log = export_inspect(&RunReport::read("[]").unwrap());
/// assert!(log.starts_with("{\n  \"version\": 2,\n  \"status\": \"success\","));
/// ```
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "strings, numbers and lists make JSON"
)]
pub fn export_inspect(report: &RunReport) -> String {
    let mut json = serde_json::to_string_pretty(&log(report)).expect("a log as JSON");
    json.push('\n');
    json
}

/// The file name by which Inspect finds the log in a folder: time, task and task id. It is the same for the same report.
///
/// ```
/// use zer0gravity_engine::report::{RunReport, inspect_file_name};
/// let name = inspect_file_name(&RunReport::read("[]").unwrap());
/// assert!(name.starts_with("1970-01-01T00-00-00.000Z_zer0gravity_") && name.ends_with(".json"));
/// ```
pub fn inspect_file_name(report: &RunReport) -> String {
    let time = timestamp(created(report)).replace(':', "-");
    format!("{time}_{TASK}_{}.json", task_id(report))
}

fn log(report: &RunReport) -> Log {
    let (results, begun) = (&report.results, timestamp(created(report)));
    let status = status(results);
    let texts: BTreeSet<_> = (results.iter())
        .map(|one| (&one.encoding_id, &one.test_case_id))
        .collect();
    let samples = samples(report);
    let planned = |config: &Config| u64::from(config.trials) * u64::from(config.decodes);
    let epochs = samples.iter().filter_map(|one| one["epoch"].as_u64());
    let epochs = epochs.chain(report.config.as_ref().map(planned));
    let encodings = report
        .encodings
        .iter()
        .map(|one| json!({"id": one.id, "sha256": one.sha256, "rulesTokens": one.rules_tokens}));
    let scores = names(results).into_iter();
    let scores: Vec<_> = scores
        .filter_map(|name| over_samples(name, results))
        .collect();
    let scorers = scores
        .iter()
        .map(|one| json!({"name": one["name"], "metrics": [{"name": "mean"}, {"name": "stderr"}]}));
    let has_levels = report.cases.iter().all(|case| case.level.is_some());
    let model = results.first().map_or_else(
        || "none/none".to_owned(),
        |one| {
            let encoders = results.iter().map(|one| &*one.metadata.models.encoder);
            let encoders: BTreeSet<_> = encoders.collect();
            let encoders = encoders.into_iter().collect::<Vec<_>>().join("+");
            format!("{}/{encoders}", one.metadata.provider)
        },
    );
    let mut eval = json!({
        "created": begun,
        "eval_id": id(report),
        "run_id": id(&(&report.created_at, &report.config)),
        "task": TASK,
        "task_id": task_id(report),
        "dataset": {"name": if has_levels { "levels" } else { "texts" }, "samples": texts.len()},
        "model": model,
        "config": {"epochs": epochs.max().unwrap_or(1)},
        "packages": {TASK: report.engine_version},
        // Inspect takes the order of the scores from here, because names in an object have none.
        "scorers": scorers.collect::<Vec<_>>(),
        "metadata": {
            "planSha256": plan(report).map(|plan| plan.sha256()),
            "offline": report.offline,
            "encodings": encodings.collect::<Vec<_>>(),
        },
    });
    if let Some(temperature) = results.iter().find_map(|one| one.metadata.temperature) {
        eval["model_generate_config"] = json!({"temperature": temperature});
    }
    Log {
        version: LOG_VERSION,
        status,
        eval,
        plan: json!({"name": "plan", "steps": []}),
        results: json!({
            "total_samples": results.len(),
            "completed_samples": results.iter().filter(|one| one.outcome.is_ok()).count(),
            "scores": scores,
        }),
        stats: json!({"started_at": begun, "completed_at": timestamp(completed(report))}),
        error: cause(results).filter(|_| status == "error"),
        samples,
    }
}

/// `cancelled` after an interruption or at a cap, `error` if no result has a score or something else ended the run.
fn status(results: &[ExperimentResult]) -> &'static str {
    if results.iter().any(|one| one.outcome.is_stopped()) {
        "cancelled"
    } else if results.is_empty()
        || !results.iter().any(is_waiting) && results.iter().any(|one| one.outcome.is_ok())
    {
        "success"
    } else {
        "error"
    }
}

fn is_waiting(result: &ExperimentResult) -> bool {
    result.outcome.status == StageStatus::NotRun
}

/// The failure that ended the run or, if the run did not end early, the first one.
fn cause(results: &[ExperimentResult]) -> Option<Value> {
    let waiting = results.iter().filter(|one| is_waiting(one));
    waiting.chain(results).find_map(failure)
}

/// The mean over samples and its standard error, which one sample does not have; `None` without a mean. As in Inspect, the
/// epochs of a sample are averaged first.
fn over_samples(name: &str, results: &[ExperimentResult]) -> Option<Value> {
    let means = groups(results).into_iter().filter_map(|group| {
        let points = group.items.into_iter().filter_map(|one| points(one, name));
        average(&points.collect::<Vec<_>>())
    });
    let means: Vec<f64> = means.collect();
    let (mean, count) = (average(&means)?, means.len() as f64);
    let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let metrics = [("mean", figure(mean)), ("stderr", figure(error))].into_iter();
    let metrics: Map<_, _> = metrics
        .filter(|(_, value)| value.is_finite())
        .map(|(name, value)| (name.to_owned(), json!({"name": name, "value": value})))
        .collect();
    (metrics.contains_key("mean"))
        .then(|| json!({"name": name, "scorer": name, "reducer": "mean", "metrics": metrics}))
}

/// The plan that the report is of; `None` if the report is a part of one, or came without its settings or rules.
fn plan(report: &RunReport) -> Option<Plan> {
    let config = report.config.clone()?;
    let rules: HashMap<&str, &str> = (report.results.iter())
        .map(|result| (result.encoding_id.as_str(), &*result.encoding_system))
        .collect();
    let encodings = report.encodings.iter().map(|encoding| {
        let rules = *rules.get(encoding.id.as_str())?;
        let crossed = encoding.crossed.as_ref();
        let id = crossed.map_or(&encoding.id, |crossed| &crossed.encoding);
        let system = EncodingSystem::new(id, encoding.path.clone(), rules);
        (system.sha256 == encoding.sha256).then_some(system)
    });
    let mut encodings = encodings.collect::<Option<Vec<_>>>()?;
    // The systems of one set of rules follow each other.
    encodings.dedup_by(|one, other| one.id == other.id);
    (report.encodings_left_out == 0).then(|| Plan::new(encodings, report.cases.clone(), config))
}

/// The time of the report or, if it has none that can be read, of its first result.
fn created(report: &RunReport) -> Timestamp {
    let results = report.results.iter();
    let first = results
        .filter_map(|one| time(&one.metadata.timestamp))
        .min();
    time(&report.created_at)
        .or(first)
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The time at which the last result was there, at the earliest: the waits between its calls are not known.
fn completed(report: &RunReport) -> Timestamp {
    let ends = report.results.iter().filter_map(|result| {
        let waited = i64::try_from(result.metadata.duration_ms).ok()?;
        let begun = time(&result.metadata.timestamp)?;
        begun.checked_add(SignedDuration::from_millis(waited)).ok()
    });
    ends.fold(created(report), Timestamp::max)
}

/// Reads a time. One before 1970 is left out, because Inspect reads no year before 1.
fn time(text: &str) -> Option<Timestamp> {
    let time: Option<Timestamp> = text.parse().ok();
    time.filter(|time| *time >= Timestamp::UNIX_EPOCH)
}

/// The id of a run with its texts, rules, settings and judges: Inspect shows one log of each id.
fn task_id(report: &RunReport) -> String {
    let encodings = report.encodings.iter();
    let encodings: Vec<_> = encodings.map(|one| (&one.id, &one.sha256)).collect();
    let results = report.results.iter();
    let judges: BTreeSet<_> = results.map(|one| &one.metadata.models.judges).collect();
    let run = (&report.created_at, &report.config);
    id(&(run, encodings, &report.cases, judges))
}

#[expect(clippy::expect_used, reason = "strings, numbers and lists make JSON")]
fn id(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).expect("JSON");
    let mut id = sha256_hex(&json);
    id.truncate(ID_LENGTH);
    id
}
