//! Finding experiments, forms and minds, and what is said while one waits.

use std::fs;
use std::time::Duration;

use llm_client::{Clock as _, SystemClock};
use serde_json::Value;
use test_support::{MindScript, MindStub};

use crate::journal;
use crate::program::{Place, init, words};
use crate::terminal::shown;

fn made(place: &Place, name: &str) {
    place.file(
        &format!("experiments/{name}/init.md"),
        init(&["One.", "Two.", "Three."]),
    );
}

#[test]
fn l19_an_experiment_is_found_by_its_name() {
    let place = Place::new();
    made(&place, "2026-01-02-my-exp");
    made(&place, "2026-03-04-my-exp");
    place
        .alone(&["run", "my-exp", "--rounds", "1", "--seed", "1"])
        .exits(0);
    assert!(
        place
            .path("experiments/2026-03-04-my-exp/logs/experiment.jsonl")
            .exists()
    );
    place.alone(&["verify", "2026-03-04-my-exp"]).exits(0);
    place
        .alone(&["diff", "my-exp", "experiments/2026-03-04-my-exp"])
        .exits(0);
    place.alone(&["resume", "my-exp", "--rounds", "2"]).exits(0);
    place
        .alone(&["run", "my-exq"])
        .exits(2)
        .tells(&["did you mean my-exp?"]);
    // A folder here wins over one in experiments/.
    place.experiment("my-exp");
    place.alone(&["run", "my-exp", "--rounds", "1"]).exits(0);
    assert!(place.path("my-exp/logs/experiment.jsonl").exists());
}

#[test]
fn l19_without_a_name_it_is_the_experiment_whose_journal_changed_last() {
    let place = Place::new();
    place.alone(&["verify"]).exits(2).tells(&["experiments/"]);
    for name in ["2026-01-02-a", "2026-01-02-b"] {
        made(&place, name);
        place
            .alone(&["run", name, "--rounds", "1", "--seed", "1"])
            .exits(0);
    }
    // The older name is the newer journal.
    let journal = fs::File::options()
        .append(true)
        .open(place.path("experiments/2026-01-02-a/logs/experiment.jsonl"));
    let later = SystemClock::new().now() + Duration::from_mins(1);
    journal.unwrap().set_modified(later).unwrap();
    for command in [
        &["analyze"][..],
        &["report"],
        &["verify"],
        &["lineage"],
        &["export", "messages", "-o", "messages.csv"],
        &["null-model"],
        &["status"],
        &["check-leaks"],
        &["resume"],
    ] {
        let ran = place.alone(command).exits(0);
        let first = ran.stderr.lines().next().unwrap_or_default();
        assert!(
            first == "run: experiments/2026-01-02-a (newest)",
            "{command:?} {}",
            ran.stderr
        );
    }
    assert!(place.path("messages.csv").exists());
    place.alone(&["diff"]).exits(2);
}

#[test]
fn l28_the_name_of_the_file_gives_the_format() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "3", "--seed", "1"])
        .exits(0);
    for (kind, format) in [
        ("lineage", "graphml"),
        ("lineage", "svg"),
        ("messages", "csv"),
        ("metrics", "jsonl"),
        ("exposure", "csv"),
        ("exposure", "dot"),
    ] {
        let file = format!("out/{kind}.{format}");
        place
            .alone(&["export", kind, "E", "-o", &file])
            .exits(0)
            .tells(&[&format!(" in {file}")]);
        let flags = ["export", kind, "E", "-o", "-", "--format", format];
        let written = place.alone(&flags).exits(0).stdout;
        assert_eq!(written, place.read(&file), "{file}");
    }
    let rows = place.alone(&["export", "messages", "E"]).exits(0).stdout;
    assert_eq!(rows, place.read("out/messages.csv"));
    place
        .alone(&["export", "everything", "E"])
        .exits(2)
        .tells(&["lineage, exposure, messages, metrics"]);
    place
        .alone(&["export", "metrics", "E", "-o", "metrics.dot"])
        .exits(2)
        .tells(&["only as csv, jsonl"]);
    let help = place.alone(&["export", "--help"]).exits(0).stdout;
    for line in [
        "lineage             graphml, dot, csv, jsonl, svg",
        "exposure            graphml, dot, csv, jsonl",
        "messages, metrics   csv, jsonl",
    ] {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn l29_the_programs_that_play_minds_are_listed() {
    let place = Place::new();
    let list = place.alone(&["minds"]).exits(0).stdout;
    for kind in [
        "copier",
        "mutator",
        "markov",
        "biased",
        "disobedient",
        "silent",
        "flaky",
        "slow",
    ] {
        assert!(
            list.lines().any(|line| line.starts_with(kind)),
            "{kind}\n{list}"
        );
    }
    for words in [
        "probability of a new word: a number from 0 to 1; default 0.05",
        "must be given",
        "default 100",
    ] {
        assert!(list.contains(words), "{words}\n{list}");
    }
    let help = place.alone(&["run", "--help"]).exits(0).stdout;
    let examples = help.split("Examples:").nth(1).unwrap();
    assert_eq!(
        examples
            .lines()
            .filter(|line| line.starts_with("  logosphere run"))
            .count(),
        3,
        "{help}"
    );
}

#[test]
fn l17_a_null_model_shows_what_it_can_move() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "8", "--seed", "1"])
        .exits(0);
    let ran = place
        .alone(&["null-model", "E", "--kind", "shuffle"])
        .exits(0);
    let rows: Vec<&str> = ran.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 1, "{}", ran.stdout);
    assert!(rows[0].starts_with("similarity to what was read "));
    place.alone(&["null-model", "E"]).exits(0);
}

#[test]
fn l24_a_first_forecast_says_what_it_assumes() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    place.experiment("E");
    let assumed = "if an answer has 400 tokens (no run yet)";
    let ran = place.asking(&stub, &["estimate", "E"]).exits(0);
    assert!(ran.stdout.contains(assumed), "{}", ran.stdout);
    let ran = place
        .asking(&stub, &["run", "E", "--rounds", "4", "--seed", "1"])
        .exits(0);
    assert!(ran.all().contains(assumed), "{}", ran.all());
    let forecast = || {
        let ran = place
            .alone(&["estimate", "E", "--rounds", "20", "--json"])
            .exits(0);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["answers"].clone()
    };
    assert_eq!(forecast()["measured"], false);
    let ran = place.alone(&["estimate", "E", "--rounds", "20"]).exits(0);
    assert!(
        ran.stdout
            .contains("if an answer has 400 tokens (fewer than 5 rounds yet)"),
        "{}",
        ran.stdout
    );
    place.resuming(&stub, "E", &["--rounds", "5"]).exits(0);
    let measured = forecast();
    assert_eq!(measured["measured"], true);
    assert!(measured["tokens"].as_f64().unwrap() < 100.0, "{measured}");
}

#[test]
fn l20_a_journal_of_the_old_program_is_called_so() {
    let place = Place::new();
    let line = r#"{"type": "experiment_start", "timestamp": "2026-01-02T10:00:00.1", "config": {"N_MINDS": 1}, "num_seed_messages": 2}"#;
    place.file("D/logs/experiment.jsonl", format!("{line}\n"));
    place.file("D/init.md", init(&["One.", "Two."]));
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "1", "--seed", "1"])
        .exits(0);
    for command in [
        &["verify", "D"][..],
        &["check-leaks", "D"],
        &["status", "D"],
        &["diff", "D", "E"],
        &["diff", "E", "D"],
        &["resume", "D"],
    ] {
        place
            .alone(command)
            .exits(2)
            .tells(&["a journal of the Python program of 2026-01-02"]);
    }
}

#[test]
fn l20_advice_about_seeds_counts_the_last_line_feed() {
    let place = Place::new();
    place.file("init.md", "notes\n---\nOne.\n---");
    let ran = place.alone(&["check-init", "init.md"]).exits(2);
    let words = "after a line feed, which the last line \"---\" lacks, add these lines:";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    place.file("init.md", "notes\n---\nOne.\n---\n");
    let ran = place.alone(&["check-init", "init.md"]).exits(2);
    assert!(
        ran.stderr.contains("at the end of the file") && !ran.stderr.contains("line feed"),
        "{}",
        ran.stderr
    );
}

#[test]
fn l01_the_page_of_the_default_mind_says_drift() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "20", "--seed", "1"])
        .exits(0);
    place.alone(&["report", "E"]).exits(0);
    let page = place.read("E/report.html");
    assert!(page.contains(
        "Drift is enough: copying at random, with the changes measured in this run, gives the same"
    ));
    for word in [
        "more than copying",
        "less than copying",
        "no other than copying",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn l11_a_short_name_in_a_header_is_a_leak() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    place.experiment("okd");
    place
        .asking(&stub, &["run", "okd", "--rounds", "2", "--seed", "3"])
        .exits(0);
    let keep = |agent: &str| {
        for (number, request) in stub.requests().iter().enumerate() {
            place.file(&format!("kept/{number}.json"), &request.body);
            let headers = format!("content-type: application/json\r\nuser-agent: {agent}\r\n");
            place.file(&format!("kept/{number}.headers"), headers);
        }
        place.alone(&["check-leaks", "okd", "--bodies", "kept"])
    };
    keep("logosphere/0.1").exits(0);
    keep("logosphere/tokd-round").exits(0);
    let ran = keep("logosphere/okd-round").exits(4);
    assert!(ran.stdout.contains("okd"), "{}", ran.stdout);
    let run_id = journal::events(&place, "okd")[0]["run_id"].clone();
    keep(&format!("x {}", run_id.as_str().unwrap())).exits(4);
}

#[test]
fn l1_the_sentence_is_a_verdict() {
    let place = Place::new();
    for (name, mind) in [("copies", "copier"), ("variants", "mutator:p=0.1")] {
        place.experiment(name);
        let run = ["run", name, "--rounds", "30", "--seed", "1", "--mind", mind];
        place.alone(&run).exits(0);
        let told = place.alone(&["analyze", name]).exits(0).stdout;
        let sentence = told.lines().next().unwrap_or_default();
        assert!(sentence.starts_with("Drift is enough: "), "{sentence}");
        let told = place.alone(&["null-model", name]).exits(0).stdout;
        assert_eq!(told.lines().next(), Some(sentence));
    }
    place.experiment("short");
    place.alone(&["run", "short", "--rounds", "3"]).exits(0);
    let told = place.alone(&["analyze", "short"]).exits(0).stdout;
    let sentence = told.lines().next().unwrap_or_default();
    assert!(sentence.starts_with("Not tested: only "), "{sentence}");
    assert!(
        sentence.ends_with(" calls read two different texts and passed one on; 30 are needed.")
    );
}

#[test]
fn a_short_run_has_no_interval() {
    let place = Place::new();
    place.experiment("E");
    for (rounds, said) in [
        ("7", "(no interval below 8 rounds)"),
        ("8", "(95 % interval "),
    ] {
        let command = if rounds == "7" { "run" } else { "resume" };
        place.alone(&[command, "E", "--rounds", rounds]).exits(0);
        let ran = place.alone(&["analyze", "E", "--no-null"]).exits(0);
        let first = ran.stdout.lines().next().unwrap_or_default();
        assert!(first.contains(said), "{first}");
    }
}

#[test]
fn an_ended_run_has_a_status_and_keeps_its_rounds() {
    let place = Place::new();
    place.experiment("E");
    place.alone(&["run", "E", "--rounds", "3"]).exits(0);
    let ran = place.alone(&["resume", "E", "--json"]).exits(0);
    let (status, same): (Value, Value) =
        (ran.json(), place.alone(&["status", "E", "--json"]).json());
    assert_eq!(status, same);
    assert_eq!(
        (&status["status"], &status["rounds"]),
        (&"ended".into(), &3.into())
    );
    let before = place.read("E/logs/experiment.jsonl");
    place
        .alone(&["resume", "E", "--rounds", "2"])
        .exits(2)
        .tells(&["--rounds 2: the run is at round 3 already"]);
    assert_eq!(place.read("E/logs/experiment.jsonl"), before);
}

#[test]
fn an_old_command_line_an_unknown_ending_and_a_folder_without_a_run_are_explained() {
    let place = Place::new();
    place
        .alone(&["--rounds", "2"])
        .exits(2)
        .tells(&["logosphere run --rounds"]);
    place.experiment("E");
    for command in ["lineage", "analyze", "verify", "report"] {
        let ran = place.alone(&[command, "E"]).exits(2);
        ran.tells(&["E: contains no run; `logosphere run` begins one"]);
    }
    place.alone(&["run", "E", "--rounds", "1"]).exits(0);
    place
        .alone(&["export", "lineage", "E", "-o", "x.pdf"])
        .exits(2)
        .tells(&["x.pdf", "--format", "graphml"]);
    assert!(!place.path("x.pdf").exists());
    place
        .alone(&["export", "lineage", "E", "-o", "x.pdf", "--format", "csv"])
        .exits(0);
}

#[test]
fn the_newest_experiment_of_a_name_is_run() {
    let place = Place::new();
    place.alone(&["new", "abc"]).exits(0);
    place.alone(&["new", "abc"]).exits(0);
    let names = place.names("experiments");
    let first = fs::File::options()
        .append(true)
        .open(place.path(&format!("experiments/{}/init.md", names[0])));
    first
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    place.alone(&["run", "abc", "--rounds", "1"]).exits(0);
    let journal = |name: &str| {
        place
            .path(&format!("experiments/{name}/logs/experiment.jsonl"))
            .exists()
    };
    assert!(names[1].ends_with("-abc-2"), "{names:?}");
    assert_eq!((journal(&names[0]), journal(&names[1])), (false, true));
}

#[test]
fn a_pipe_gets_the_whole_texts_of_a_lineage() {
    let place = Place::new();
    let long = format!("One {} end.", "x".repeat(400));
    place.seeded("E", &[&long, "Two.", "Three."]);
    place
        .alone(&["run", "E", "--rounds", "2", "--mind", "copier"])
        .exits(0);
    let ran = place.alone(&["lineage", "E"]).exits(0);
    assert!(ran.stdout.contains(&long), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{2026}'), "{}", ran.stdout);
}

#[test]
fn texts_of_others_cannot_steer_the_terminal_they_are_exported_to() {
    let place = Place::new();
    place.file(
        "posts.jsonl",
        "{\"text\": \"a\\u001b[2Jb \\u202e\\u009bc\"}\n",
    );
    let import = "import posts.jsonl --name posts --keep-authors";
    place.alone(&words(import)).exits(0);
    for kind in [
        "export messages posts",
        "export messages posts --format jsonl",
        "lineage posts --json",
    ] {
        let printed = shown(&mut place.command(&words(kind)), 200);
        let hostile = ['\u{1b}', '\u{9b}', '\u{202e}'];
        assert!(!printed.contains(hostile), "{kind}: {printed}");
        // A file or a pipe has the text itself.
        let piped = place.alone(&words(kind)).exits(0).stdout;
        assert_eq!(
            piped.contains('\u{202e}'),
            kind.starts_with("export"),
            "{kind}: {piped}"
        );
    }
}

#[test]
fn texts_in_the_json_of_a_fork_cannot_steer_the_terminal() {
    let place = Place::new();
    let hostile = ['\u{1b}', '\u{9b}', '\u{202e}'];
    place.seeded("E", &["One \u{9b}2J \u{202e}text.", "Two.", "Three."]);
    place
        .alone(&words("run E --rounds 2 --mind copier:mu=0"))
        .exits(0);
    let line = "fork E --at 2 --ablate 0 --replicates 1 --name f --json";
    let piped = place.alone(&words(line)).exits(0).stdout;
    assert!(piped.contains(&hostile[1..]), "{piped}");
    let printed = shown(&mut place.command(&words(line)), 200);
    assert!(!printed.contains(hostile), "{printed}");
    assert!(printed.contains(r"\u{202e}"), "{printed}");
}
