//! Forks on the command line.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use test_support::{MindScript, MindStub};

use crate::journal::{events, of_type};
use crate::program::{Place, finish, init, start, words};

/// A run of twelve rounds, and a file with a message.
fn parent() -> Place {
    let place = Place::new();
    place.experiment("first");
    place
        .alone(&words("run first --rounds 12 --active 30"))
        .exits(0);
    place.file("new.md", init(&["an idea from outside"]));
    place
}

fn journals(place: &Place, fork: &str) -> Vec<Vec<u8>> {
    let runs = ["control", "treated"].map(|arm| (0..3).map(move |at| (arm, at)));
    let read = |(arm, at)| {
        let path = place.path(&format!("forks/{fork}/{arm}/r0{at}/logs/experiment.jsonl"));
        fs::read(path).unwrap_or_default()
    };
    runs.into_iter().flatten().map(read).collect()
}

#[test]
fn a_fork_continues_both_arms_and_follows_what_was_put_in() {
    let place = parent();
    let command = words("fork first --at 6 --inject new.md --replicates 6");
    let made = place.alone(&command).exits(0);
    let made = made.tells(&["writing to forks/first-at-6", "12 runs of up to 21 calls"]);
    assert!(
        made.stdout
            .contains("\nmessage  arm      descendants  share"),
        "{}",
        made.stdout
    );
    assert!(made.stdout.contains("an idea from outside"));
    assert!(
        made.stdout.contains("tfidf_similarity         rounds"),
        "{}",
        made.stdout
    );
    for run in ["control/r00", "control/r05", "treated/r00", "treated/r05"] {
        let run = format!("forks/first-at-6/{run}");
        for check in ["verify", "replay", "leak"] {
            place.alone(&[check, &run]).exits(0);
        }
    }
    let equal = place
        .alone(&words("diff first forks/first-at-6/control/r00"))
        .exits(0);
    assert!(equal.stdout.starts_with("equal: "), "{}", equal.stdout);
    let before = journals(&place, "first-at-6");
    let again = place.alone(&command).exits(0);
    assert_eq!(
        (again.stdout, journals(&place, "first-at-6")),
        (made.stdout, before)
    );
    let page = place.read("forks/first-at-6/report.html");
    assert!(page.contains("Fork at 6: 6 replicates"));
    let json = place.alone(&[&command[..], &["--json"]].concat()).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["schema_version"], &json["replicates"]),
        (&1.into(), &6.into())
    );
    assert_eq!(json["first_differences"].as_array().unwrap().len(), 6);
}

#[test]
fn every_change_is_made_and_few_replicates_have_no_test() {
    let place = parent();
    let newest = events(&place, "first");
    let newest = of_type(&newest, "mind_invocation")[13]["added_ids"][0].to_string();
    for (name, change) in [
        ("out", format!("--ablate {newest}")),
        ("swap", "--swap-mind 1=silent".to_owned()),
        (
            "k",
            "--set k_samples=1 --set options.temperature=0.5".to_owned(),
        ),
        ("late", "--inject new.md --stamp".to_owned()),
    ] {
        let command = format!("fork first --at 6 {change} --replicates 2 --rounds 3 --name {name}");
        let made = place.alone(&words(&command)).exits(0);
        assert!(
            made.stdout
                .starts_with("too few replicates for a test: 2 of 6"),
            "{}",
            made.stdout
        );
        let run = format!("forks/{name}/treated/r01");
        for check in ["verify", "replay", "leak"] {
            place.alone(&[check, &run]).exits(0);
        }
        let journal = events(&place, &run);
        assert!(!of_type(&journal, "intervention").is_empty());
        assert_eq!(journal.last().unwrap()["total_rounds"], 8);
        assert_eq!(journal.last().unwrap()["own"]["calls"], 9);
    }
}

#[test]
fn what_cannot_be_forked_is_refused_before_anything_is_written() {
    let place = parent();
    for (flags, error) in [
        (
            "--at 14",
            "the journal has no call 14; its last round is 12",
        ),
        ("--at 0", "expected a round from 1"),
        ("--at 3.7", "the journal has no call 3.7"),
        ("--at 6 --ablate 999", "message 999 cannot be read"),
        ("--at 6 --swap-mind 3=copier", "the run has no mind 3"),
        ("--at 6 --swap-mind 1=coper", "coper"),
        (
            "--at 6 --set seed=3",
            "a fork can change k_samples, m_active_pool, token_limit, options, system_prompt",
        ),
        ("--at 6 --set k_samples=many", "cannot change k_samples to"),
        ("--at 6 --inject none.md", "cannot read none.md"),
    ] {
        let command = format!("fork first {flags} --replicates 1");
        place.alone(&words(&command)).exits(2).tells(&[error]);
    }
    assert!(!place.path("forks").exists());
    let fork = "fork first --at 6 --replicates 1 --inject new.md";
    place.alone(&words(fork)).exits(0);
    let other = "fork first --at 6 --replicates 1 --inject new.md --rounds 2";
    place
        .alone(&words(other))
        .exits(2)
        .tells(&["has the runs of another fork: max_rounds is 12 there and 7 here"]);
    let journal = place.read("first/logs/experiment.jsonl");
    place.file(
        "first/logs/experiment.jsonl",
        journal.replacen("Silence", "silence", 1),
    );
    place
        .alone(&words("fork first --at 3 --replicates 1"))
        .exits(4);
}

#[test]
fn n15_only_calls_after_the_point_reach_the_server_and_the_own_continuation_is_free() {
    let stub = MindStub::start(MindScript::default());
    let place = Place::new();
    place.experiment("E");
    let server = [
        "--provider",
        "llamacpp",
        "--model",
        "m",
        "--base-url",
        &stub.url(),
    ]
    .map(str::to_owned);
    finish(start(
        place.command(&words("run E --rounds 6")).args(&server),
    ))
    .exits(0);
    let before = stub.stats().requests;
    assert_eq!(before, 18);
    place.file("new.md", init(&["an idea from outside"]));
    let fork = "fork E --at 5 --inject new.md --replicates 3";
    place.alone(&words(fork)).exits(0);
    // Two rounds of three minds in six runs, but for the control of replicate 0.
    assert_eq!(stub.stats().requests - before, 5 * 6);
    place.alone(&words(fork)).exits(0);
    assert_eq!(stub.stats().requests - before, 5 * 6);
    let page = place.read("forks/E-at-5/report.html");
    assert!(page.contains("Model answers are not shared between arms"));
}

#[test]
fn a_fork_that_is_killed_is_that_of_one_that_is_not() {
    let command = words("fork first --at 4.1 --inject new.md --replicates 3 --jobs 2");
    let undisturbed = parent();
    undisturbed.alone(&command).exits(0);
    let place = parent();
    for kill in 0..15 {
        let mut fork = start(&mut place.command(&command));
        std::thread::sleep(Duration::from_millis(15 + 8 * kill));
        fork.kill().unwrap();
        fork.wait().unwrap();
    }
    place.alone(&command).exits(0);
    let summary = |place: &Place| place.read("forks/first-at-4.1/summary.json");
    assert_eq!(summary(&place), summary(&undisturbed));
}

#[test]
fn a_run_that_is_resumed_can_be_changed_from_outside() {
    let place = parent();
    let resume = "resume first --rounds 14 --inject new.md --swap-mind 0=copier:mu=0";
    place.alone(&words(resume)).exits(0);
    let journal = events(&place, "first");
    let kinds: Vec<_> = of_type(&journal, "intervention")
        .iter()
        .map(|event| event["kind"].clone())
        .collect();
    assert_eq!(kinds, ["inject", "swap_mind"]);
    for check in [
        "verify first",
        "replay first",
        "leak first",
        "analyze first",
    ] {
        place.alone(&words(check)).exits(0);
    }
    place
        .alone(&words("resume first --rounds 15 --ablate 0"))
        .exits(2)
        .tells(&["message 0 cannot be read"]);
    place.alone(&words("resume first --rounds 15")).exits(0);
    place.alone(&words("verify first")).exits(0);
}

#[test]
fn the_control_takes_no_answer_of_another_mind_and_lasts_as_long_as_the_parent() {
    let place = Place::new();
    place.experiment("p");
    place
        .alone(&words(
            "run p --rounds 6 --active 30 --mind copier --seed 3",
        ))
        .exits(0);
    place
        .alone(&words("resume p --rounds 12 --swap-mind 0=silent"))
        .exits(0);
    // Before the swap, which is no part of the fork.
    let fork = place
        .alone(&words("fork p --at 4 --replicates 2 --json"))
        .exits(0);
    let fork = fork.tells(&["4 runs of up to 27 calls"]);
    let summary: Value = serde_json::from_str(&fork.stdout).unwrap();
    assert_eq!(
        summary["first_differences"],
        serde_json::json!([null, null])
    );
    let journal = events(&place, "forks/p-at-4/control/r00");
    assert_eq!(journal.last().unwrap()["total_rounds"], 12);
    let minds = of_type(&journal, "mind_invocation");
    assert!(
        minds.iter().all(|call| call["parse"]["reason"] == "ok"),
        "a silent mind played"
    );
}

#[test]
fn a_message_that_is_put_in_is_not_one_that_minds_sent() {
    let place = parent();
    let fork = "fork first --at 6 --inject new.md --replicates 6 --json";
    let summary: Value = serde_json::from_str(&place.alone(&words(fork)).exits(0).stdout).unwrap();
    let rows = summary["differences"].as_array().unwrap();
    let messages = rows
        .iter()
        .find(|row| row["measure"] == "messages" && row["part"] == "rounds");
    assert_eq!(messages.unwrap()["mean"], 0.0);
    let run = "forks/first-at-6/treated/r00";
    let id = messages_of(&place, run);
    let csv = place.alone(&["export", "messages", run]).exits(0).stdout;
    let row = csv
        .lines()
        .find(|line| line.contains("an idea from outside"))
        .unwrap();
    assert!(row.starts_with(&format!("{id},5,,false,")), "{row}");
    place.alone(&["report", run, "-o", "page.html"]).exits(0);
    assert!(place.read("page.html").contains("an idea from outside"));
    let lineage = place.alone(&["lineage", run, "--json"]).exits(0).stdout;
    let lineage: Value = serde_json::from_str(&lineage).unwrap();
    assert_eq!(lineage["messages"], 36, "{lineage}");
    // Six replicates cannot be significant after the correction.
    let notice = summary["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("6 replicates: after the correction for"),
        "{notice}"
    );
}

/// The id of the message that was put in.
fn messages_of(place: &Place, run: &str) -> u64 {
    let journal = events(place, run);
    of_type(&journal, "intervention")[0]["added_ids"][0]
        .as_u64()
        .unwrap()
}

#[test]
fn a_failed_call_of_the_parent_stays_failed_in_the_control_and_a_killed_control_is_free() {
    let stub = MindStub::start(MindScript {
        fail_every: Some(4),
        ..MindScript::default()
    });
    let place = Place::new();
    place.experiment("E");
    let url = stub.url();
    let server = ["--provider", "llamacpp", "--model", "m", "--base-url", &url];
    let run = words("run E --rounds 6 --retries 0 --on-error skip --max-tokens 30000");
    finish(start(place.command(&run).args(server))).exits(3);
    let fork = words("fork E --at 3 --replicates 1");
    let made = finish(start(&mut place.command(&fork)));
    assert!(matches!(made.code, Some(0 | 3)), "{}", made.stderr);
    let equal = place.alone(&words("diff E forks/E-at-3/control/r00"));
    assert!(equal.stdout.starts_with("equal: "), "{}", equal.stdout);
    // The state after a kill.
    let journal = "forks/E-at-3/control/r00/logs/experiment.jsonl";
    let text = place.read(journal);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let forked = lines
        .iter()
        .position(|line| line.contains("\"type\":\"forked\""))
        .unwrap();
    place.file(journal, lines[..forked + 3].concat());
    let before = stub.stats().requests;
    finish(start(&mut place.command(&fork)));
    assert_eq!(stub.stats().requests, before);
    let equal = place.alone(&words("diff E forks/E-at-3/control/r00"));
    assert!(equal.stdout.starts_with("equal: "), "{}", equal.stdout);
}

#[test]
fn a_name_is_no_path() {
    let place = parent();
    for name in ["../out", "/tmp/out", "", ".x", "A"] {
        let command = [
            "fork",
            "first",
            "--at",
            "6",
            "--replicates",
            "1",
            "--name",
            name,
        ];
        place
            .alone(&command)
            .exits(2)
            .tells(&["--name", "expected 1 to 64 of a-z"]);
    }
    assert!(!place.path("forks").exists());
    let late = place.alone(&words("resume first --inject new.md")).exits(2);
    late.tells(&["the run has ended; a change from outside needs more rounds"]);
}

/// A fork of a run with a model whose price is known, and the arguments that name the server.
fn priced(place: &Place, stub: &MindStub) -> [String; 2] {
    let url = stub.messages_url();
    let server = format!("--provider anthropic --model claude-haiku-4-5 --base-url {url}");
    let run = format!("run E --rounds 6 --token-limit 150 --max-tokens 8000 {server}");
    place.experiment("E");
    let command = &mut place.command(&words(&run));
    finish(start(command.env("LOGOSPHERE_API_KEY", "k"))).exits(0);
    ["--base-url".to_owned(), url]
}

#[test]
fn a_cap_of_the_parent_is_not_one_of_all_runs_also_after_a_kill() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    let server = priced(&place, &stub);
    let fork = || {
        let command = &mut place.command(&words("fork E --at 2 --replicates 4"));
        finish(start(command.args(&server).env("LOGOSPHERE_API_KEY", "k")))
    };
    fork().exits(0);
    // More is spent by now than the parent may spend.
    let journal = "forks/E-at-2/treated/r03/logs/experiment.jsonl";
    let text = place.read(journal);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    place.file(journal, lines[..lines.len() - 4].concat());
    fork().exits(0);
    place
        .alone(&words("verify forks/E-at-2/treated/r03"))
        .exits(0);
}

#[test]
fn a_cap_in_dollars_holds_over_all_runs_of_a_fork() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    let server = priced(&place, &stub);
    stub.forget();
    let fork = words("fork E --at 2 --replicates 4 --jobs 3 --max-usd 0.01");
    let command = &mut place.command(&fork);
    finish(start(command.args(&server).env("LOGOSPHERE_API_KEY", "k"))).exits(130);
    let billed = stub.stats().billed;
    let spent = (billed.prompt as f64 + 5.0 * billed.completion as f64) / 1e6;
    assert!(spent > 0.0 && spent <= 0.01, "{spent}");
}
