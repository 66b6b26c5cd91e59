//! Sweeps: the runs of a plan, killed and continued, and their result.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use test_support::{MindScript, MindStub};

use crate::program::{Place, finish, init, signal, start, words};

const PLAN: &str = r#"
schema_version = 1
name = "try"
repeats = 3
seed = 7
init = "init.md"
[base]
max_rounds = 12
durability = "flush"
[axes]
mind = ["mutator:p=0.05", "copier:mu=0.05"]
k_samples = [1, 3]
[tests]
null_runs = 199
"#;

/// A folder with a plan and its seed messages.
fn planned(plan: &str) -> Place {
    let place = Place::new();
    place.file("plan.toml", plan);
    place.file("init.md", init(&crate::program::SEEDS));
    place
}

/// The journals of a sweep by the folder of the run.
fn journals(place: &Place) -> Vec<(String, Vec<u8>)> {
    let cells = place.path("sweeps/try/cells");
    let sorted = |path: PathBuf| -> BTreeSet<PathBuf> {
        let entries = fs::read_dir(path).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let runs = sorted(cells.clone()).into_iter().flat_map(sorted);
    runs.map(|run| {
        let journal = fs::read(run.join("logs/experiment.jsonl")).unwrap_or_default();
        let name = run.strip_prefix(&cells).unwrap().display().to_string();
        (name, journal)
    })
    .collect()
}

#[test]
fn a_sweep_makes_the_runs_of_its_plan_once() {
    let place = planned(PLAN);
    let first = place.alone(&words("sweep plan.toml")).exits(0);
    let first = first.tells(&["writing to sweeps/try"]);
    let header = "mind  k_samples 1  k_samples 3\n";
    assert!(first.stdout.starts_with(header), "{}", first.stdout);
    let made = journals(&place);
    assert_eq!(made.len(), 12);
    assert_eq!(made[0].0, "mind=0,k_samples=1/r000");
    let results = || {
        ["summary.csv", "summary.json", "report.html"]
            .map(|name| place.read(&format!("sweeps/try/{name}")))
    };
    let before = results();
    let again = place.alone(&words("sweep plan.toml")).exits(0);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(journals(&place), made);
    assert_eq!(results(), before);
    // Each run is an ordinary experiment.
    place
        .alone(&words("verify sweeps/try/cells/mind=0,k_samples=3/r002"))
        .exits(0);
    let more = place.alone(&words("sweep plan.toml --repeats 4")).exits(0);
    assert_ne!(more.stdout, first.stdout);
    let grown = journals(&place);
    assert_eq!(grown.len(), 16);
    assert!(made.iter().all(|run| grown.contains(run)));
}

#[test]
fn an_estimate_counts_all_runs_and_those_that_are_made() {
    let place = planned(PLAN);
    let estimate = place.alone(&words("sweep plan.toml --estimate")).exits(0);
    let calls = 12 * 12 * 3;
    let line = format!("calls     {calls} in 12 runs; 0 are done\n");
    assert!(estimate.stdout.starts_with(&line), "{}", estimate.stdout);
    assert!(
        estimate
            .stdout
            .ends_with("cost      none: no model is called\n")
    );
    assert!(!place.path("sweeps").exists());
    place.alone(&words("sweep plan.toml")).exits(0);
    let json = place
        .alone(&words("sweep plan.toml --estimate --json"))
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["runs"], &json["done_calls"]),
        (&12.into(), &calls.into())
    );
}

#[test]
fn the_power_of_a_sweep_is_told_in_repeats() {
    let place = planned(PLAN);
    let needed = |s: &str| {
        let command = ["sweep", "plan.toml", "--power", s];
        let shown = place.alone(&command).exits(0).stdout;
        let row = shown
            .lines()
            .find(|line| line.starts_with("0     3"))
            .unwrap()
            .to_owned();
        row.split_whitespace()
            .last()
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    // A word of half the weight needs about four times as many repeats.
    let (large, small) = (needed("0.5"), needed("0.2"));
    let times = (1.5_f64.ln() / 1.2_f64.ln()).powi(2);
    assert!((small / large / times - 1.0).abs() < 0.2, "{small} {large}");
    place
        .alone(&words("sweep plan.toml --power 0"))
        .exits(2)
        .tells(&["expected a number above 0"]);
}

#[test]
fn n10_a_sweep_that_is_killed_is_that_of_one_that_is_not() {
    let undisturbed = planned(PLAN);
    undisturbed.alone(&words("sweep plan.toml")).exits(0);
    let place = planned(PLAN);
    for kill in 0..50 {
        let mut sweep = start(&mut place.command(&words("sweep plan.toml --jobs 3")));
        // Later and later, so that each part of the work is interrupted somewhere.
        std::thread::sleep(Duration::from_millis(20 + 15 * (kill % 12)));
        sweep.kill().unwrap();
        sweep.wait().unwrap();
    }
    let last = start(&mut place.command(&words("sweep plan.toml")));
    finish(last).exits(0);
    let csv = |place: &Place| place.read("sweeps/try/summary.csv");
    assert_eq!(csv(&place), csv(&undisturbed));
    for (name, journal) in journals(&place) {
        let text = String::from_utf8(journal).unwrap();
        let calls = text.matches("\"type\":\"mind_invocation\"").count();
        assert_eq!(calls, 36, "{name}");
    }
}

#[test]
fn another_plan_in_the_folder_is_refused_with_the_first_key_that_differs() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml --repeats 1")).exits(0);
    for (line, other, key) in [
        (
            "max_rounds = 12",
            "max_rounds = 13",
            "base.max_rounds is 12 there and 13 here",
        ),
        (
            "k_samples = [1, 3]",
            "k_samples = [1, 5]",
            "axes.k_samples is [1,3] there and [1,5] here",
        ),
        ("seed = 7", "seed = 8", "seed is 7 there and 8 here"),
    ] {
        place.file("plan.toml", PLAN.replace(line, other));
        let refused = place.alone(&words("sweep plan.toml")).exits(2);
        refused.tells(&["has the runs of another plan", key]);
    }
    // The number of repeats, caps and tests may change.
    place.file("plan.toml", PLAN.replace("repeats = 3", "repeats = 2"));
    place.alone(&words("sweep plan.toml --summary")).exits(0);
    place.file("init.md", init(&["other", "seeds", "here"]));
    let refused = place.alone(&words("sweep plan.toml")).exits(2);
    refused.tells(&["the SHA-256 of init"]);
}

#[test]
fn cells_are_chosen_by_their_keys() {
    let place = planned(PLAN);
    let only = ["sweep", "plan.toml", "--only", "mind=1,k_samples=3"];
    let one = place.alone(&only).exits(0);
    assert_eq!(journals(&place).len(), 3);
    assert_eq!(one.stdout.matches("Undecided: no run.").count(), 3);
    let unknown = place
        .alone(&["sweep", "plan.toml", "--only", "k=1"])
        .exits(2);
    unknown.tells(&["the plan has no cell k=1; its first is mind=0,k_samples=1"]);
}

#[test]
fn a_wrong_plan_writes_nothing() {
    let place = planned(&PLAN.replace("repeats", "repeat"));
    let refused = place.alone(&words("sweep plan.toml")).exits(2);
    refused.tells(&[
        "plan.toml",
        "repeat: no such key of a plan; the nearest is repeats",
    ]);
    assert!(!place.path("sweeps").exists());
    let place = planned(&PLAN.replace("init.md", "none.md"));
    place
        .alone(&words("sweep plan.toml"))
        .exits(2)
        .tells(&["cannot read none.md"]);
    assert!(!place.path("sweeps").exists());
}

/// A plan whose minds are of a server.
fn asking(stub: &MindStub, more: &str) -> String {
    let base = format!(
        "[base]\nprovider = \"llamacpp\"\nmodel = \"m\"\napi_base_url = \"{}\"",
        stub.url()
    );
    PLAN.replace(
        "mind = [\"mutator:p=0.05\", \"copier:mu=0.05\"]",
        "n_minds = [2, 3]",
    )
    .replace("[base]", &base)
    .replace("max_rounds = 12", "max_rounds = 3")
        + more
}

fn slow() -> MindStub {
    MindStub::start(MindScript {
        latency: Duration::from_millis(4),
        jitter: Duration::from_millis(4),
        cost: Some([1.0, 5.0]),
        ..MindScript::default()
    })
}

/// The calls of a whole sweep: two and three minds with two values of K, each three times for three rounds.
const CALLS: usize = 2 * 3 * 3 * (2 + 3);

#[test]
fn n10_a_sweep_with_a_model_asks_each_call_once() {
    let stub = slow();
    let place = planned(&asking(&stub, ""));
    let sweep = || start(&mut place.command(&words("sweep plan.toml --jobs 2")));
    let mut ended = false;
    while !ended {
        let before = stub.stats().requests;
        let mut running = sweep();
        while stub.stats().requests < before + 11 && running.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if running.try_wait().unwrap().is_none() {
            signal(running.id(), "-TERM");
        }
        ended = finish(running).code == Some(0);
    }
    // A signal waits for the calls in flight, so no call is made again.
    assert_eq!(stub.stats().requests, CALLS);
    let results =
        || ["summary.csv", "summary.json"].map(|name| place.read(&format!("sweeps/try/{name}")));
    let before = (journals(&place), results());
    finish(sweep()).exits(0);
    assert_eq!(stub.stats().requests, CALLS);
    assert_eq!((journals(&place), results()), before);
}

#[test]
fn n10_a_sweep_that_is_killed_loses_the_calls_in_flight_at_most() {
    let (stub, kills, jobs) = (slow(), 15, 2);
    let place = planned(&asking(&stub, ""));
    let sweep = || start(&mut place.command(&words("sweep plan.toml --jobs 2")));
    for _ in 0..kills {
        let before = stub.stats().requests;
        let mut running = sweep();
        while stub.stats().requests < before + 7 && running.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        running.kill().unwrap();
        running.wait().unwrap();
        stub.server().settle();
    }
    finish(sweep()).exits(0);
    let made = stub.stats().requests;
    assert!((CALLS..=CALLS + kills * jobs).contains(&made), "{made}");
    let stub = slow();
    let undisturbed = planned(&asking(&stub, ""));
    undisturbed.alone(&words("sweep plan.toml")).exits(0);
    let csv = |place: &Place| place.read("sweeps/try/summary.csv");
    assert_eq!(csv(&place), csv(&undisturbed));
}

#[test]
fn a_cap_holds_over_all_runs_and_a_higher_one_continues() {
    let stub = slow();
    let plan = |usd: &str| {
        let plan = asking(&stub, &format!("[caps]\nmax_usd = {usd}\n"));
        let plan = plan.replace("llamacpp", "anthropic");
        let priced = "model = \"claude-haiku-4-5\"\ntoken_limit = 150";
        plan.replace("model = \"m\"", priced)
    };
    let place = planned(&plan("0.02"));
    let sweep = || {
        let url = stub.messages_url();
        let arguments = ["sweep", "plan.toml", "--jobs", "3", "--base-url", &url];
        let mut command = place.command(&arguments);
        finish(start(command.env("LOGOSPHERE_API_KEY", "k")))
    };
    let stopped = sweep().exits(130);
    stopped.tells(&["0.02"]);
    let billed = stub.stats().billed;
    let spent = (billed.prompt as f64 + 5.0 * billed.completion as f64) / 1e6;
    assert!(spent <= 0.02, "{spent}");
    assert!(place.path("sweeps/try/spend.jsonl").exists());
    place.file("plan.toml", plan("20.0"));
    sweep().exits(0);
    assert_eq!(stub.stats().requests, CALLS);
}

#[test]
fn a_run_of_another_cell_or_with_other_settings_is_refused() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml")).exits(0);
    let journal = |cell: &str| {
        place.path(&format!(
            "sweeps/try/cells/{cell}/r000/logs/experiment.jsonl"
        ))
    };
    let results = place.read("sweeps/try/summary.csv");
    let own = fs::read(journal("mind=0,k_samples=1")).unwrap();
    fs::copy(journal("mind=1,k_samples=3"), journal("mind=0,k_samples=1")).unwrap();
    for command in ["sweep plan.toml", "sweep plan.toml --summary"] {
        let refused = place.alone(&words(command)).exits(4);
        refused.tells(&["is not a run of this cell"]);
        assert_eq!(place.read("sweeps/try/summary.csv"), results);
    }
    fs::write(journal("mind=0,k_samples=1"), own).unwrap();
    place.alone(&words("sweep plan.toml")).exits(0);
    fs::remove_dir_all(place.path("sweeps/try/cells/mind=0,k_samples=1/r001/logs")).unwrap();
    let config = "sweeps/try/cells/mind=0,k_samples=1/r001/config.json";
    place.file(
        config,
        place
            .read(config)
            .replace("\"k_samples\": 1", "\"k_samples\": 2"),
    );
    let refused = place.alone(&words("sweep plan.toml"));
    refused.tells(&["is not a run of this cell: its k_samples is 2, and 1 in the plan"]);
}

#[test]
fn axes_have_one_order_and_one_name_each_and_runs_have_one_cap() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml --repeats 1")).exits(0);
    let axes = "mind = [\"mutator:p=0.05\", \"copier:mu=0.05\"]\nk_samples = [1, 3]";
    let turned = "k_samples = [1, 3]\nmind = [\"mutator:p=0.05\", \"copier:mu=0.05\"]";
    assert!(PLAN.contains(axes));
    place.file("plan.toml", PLAN.replace(axes, turned));
    let refused = place.alone(&words("sweep plan.toml --repeats 1")).exits(2);
    refused.tells(&["the order of the axes is [\"mind\",\"k_samples\"] there"]);
    for (from, to, error) in [
        (
            axes,
            "k_samples = [1]\nK_SAMPLES = [2]",
            "k_samples is an axis twice",
        ),
        (axes, "options.temperature = [1, 1.0]", "is given twice"),
        (
            axes,
            "minds = [[\"copier\"]]\nmind = [\"copier\"]",
            "mind and minds both name the minds",
        ),
        (
            "max_rounds = 12",
            "max_rounds = 12\ncaps.max_tokens = 5",
            "the runs of a sweep have one cap together",
        ),
        (
            "max_rounds = 12",
            "max_rounds = 12\nminds = [\"copier\"]",
            "mind and minds both name the minds",
        ),
        (
            "[axes]",
            "n_minds = 2\n[axes]\nminds = [[\"copier\", \"silent\", \"copier\"]]\n[ignored]",
            "no such key",
        ),
    ] {
        place.file("plan.toml", PLAN.replace(from, to));
        place
            .alone(&words("sweep plan.toml --output-dir other"))
            .exits(2)
            .tells(&[error]);
        assert!(!place.path("other").exists());
    }
}

#[test]
fn a_key_is_not_sent_to_an_address_of_a_plan_and_notices_are_printed_once() {
    let stub = slow();
    let place = planned(&asking(&stub, "").replace("llamacpp", "openrouter"));
    let command = &mut place.command(&words("sweep plan.toml"));
    let refused = finish(start(command.env("LOGOSPHERE_API_KEY", "k"))).exits(1);
    refused.tells(&["the key is not sent there"]);
    assert_eq!(stub.stats().requests, 0);
    // A server that is not the provider's own is named once, not for each run.
    let place = planned(&asking(&stub, ""));
    let url = stub.url();
    let made = place
        .alone(&["sweep", "plan.toml", "--base-url", &url])
        .exits(0);
    assert_eq!(
        made.stderr.matches("requests go to").count(),
        1,
        "{}",
        made.stderr
    );
}

#[test]
#[cfg(unix)]
fn a_file_without_an_end_is_refused() {
    let place = planned(&PLAN.replace("init.md", "/dev/zero"));
    for command in ["sweep /dev/zero", "sweep plan.toml", "check-init /dev/zero"] {
        place.alone(&words(command)).exits(2).tells(&["/dev/zero"]);
    }
}

#[test]
fn a_missing_key_has_a_remedy_that_a_sweep_takes() {
    let one = PLAN
        .replace("repeats = 3", "repeats = 1")
        .replace("mind = [\"mutator:p=0.05\", \"copier:mu=0.05\"]\n", "");
    let place = planned(&one);
    let refused = place
        .alone(&words("sweep plan.toml --only k_samples=1"))
        .exits(1);
    let remedy = "set LOGOSPHERE_API_KEY or OPENROUTER_API_KEY, or give the plan scripted minds: mind = \"mutator:p=0.1\" below [base]\n";
    refused.tells(&["no API key for openrouter: ", remedy]);
    let with_it = one.replace("[base]", "[base]\nmind = \"mutator:p=0.1\"");
    place.file("plan.toml", with_it);
    fs::remove_dir_all(place.path("sweeps")).unwrap();
    place
        .alone(&words("sweep plan.toml --only k_samples=1"))
        .exits(0);
}
