//! The results of a run: analyze, lineage, null and export.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::program::{Place, Ran, finish, signal, start, words};

/// A folder with a run of three minds and eight rounds.
fn run() -> Place {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "8", "--seed", "1"])
        .exits(0);
    place
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn analyze_tells_every_metric() {
    let place = run();
    let ran = place.alone(&["analyze", "E", "-v"]).exits(0);
    let analysis = json(&place.alone(&["analyze", "E", "--json"]).exits(0));
    let metrics = analysis["metrics"].as_array().unwrap();
    assert!(metrics.len() >= 16);
    for metric in metrics {
        let name = metric["name"].as_str().unwrap();
        let line = ran
            .stdout
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap();
        let mean = match metric["mean"].as_f64() {
            Some(mean) => format!("{mean:.4}"),
            None => "-".to_owned(),
        };
        assert_eq!(
            line.split_whitespace().nth(2),
            Some(mean.as_str()),
            "{line}"
        );
        for key in ["definition", "window", "n", "interval", "trend", "points"] {
            assert!(metric.get(key).is_some(), "{name} {key}");
        }
    }
    assert_eq!(analysis["volume"]["messages"], 8 + 24);
    assert_eq!(analysis["lineage"]["messages"], 24);
    let start: Value = serde_json::from_str(
        place
            .read("E/logs/experiment.jsonl")
            .lines()
            .next()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(analysis["run"]["run_id"], start["run_id"]);
    // The journal alone says the same.
    let journal = place
        .alone(&["analyze", "E/logs/experiment.jsonl", "-v"])
        .exits(0);
    assert_eq!(journal.stdout, ran.stdout);
}

#[test]
fn analyze_takes_windows_matching_and_null_models() {
    let place = run();
    let first = json(
        &place
            .alone(&["analyze", "E", "--json", "--window", "rounds:2"])
            .exits(0),
    );
    assert_eq!(first["window"], "rounds:2");
    assert_eq!(first["metrics"][0]["window"], "rounds:2");

    let matched = json(&place.alone(&["analyze", "E", "--json", "--match"]).exits(0));
    assert!(matched["matched"]["tokens"].as_u64().unwrap() > 0);
    assert_eq!(matched["metrics"][0]["matched"], true);

    let arguments = ["analyze", "E", "--json"];
    let null = place.alone(&arguments).exits(0);
    assert_eq!(null.stdout, place.alone(&arguments).exits(0).stdout);
    let without = json(
        &place
            .alone(&["analyze", "E", "--json", "--no-null"])
            .exits(0),
    );
    assert!(without.get("verdict").is_none() && without.get("tests").is_none());

    for wrong in ["rounds:0", "rounds", "all"] {
        place
            .alone(&["analyze", "E", "--window", wrong])
            .exits(2)
            .tells(&["rounds:R"]);
    }
}

/// A folder with a run that is long enough for a test.
fn long_run() -> Place {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "20", "--seed", "1"])
        .exits(0);
    place
}

#[test]
fn null_compares_a_run_with_neutral_descent() {
    let place = long_run();
    let arguments = words("null E --json --null-seed 9 --runs 210");
    let told = json(&place.alone(&arguments).exits(0));
    let head = &json(&place.alone(&["verify", "E", "--json"]).exits(0))["head"];
    assert_eq!((&told["head"], &told["schema_version"]), (head, &2.into()));
    assert_eq!(told["run_id"], told["run"]["run_id"]);
    assert_eq!(told["parent_rule"], "lcs/1");
    let facts = &told["null"];
    assert_eq!(
        (&facts["kind"], &facts["runs"], &facts["seed"]),
        (&"descent".into(), &210.into(), &9.into())
    );
    for key in ["innovation_share", "pairs", "contests"] {
        assert!(facts[key].is_number(), "{key}");
    }
    let names = |key: &str| -> Vec<String> {
        let rows = told[key].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(names("tests")[..2], ["choice", "tfidf_similarity"]);
    // These windows have fewer than 200 words, so there are no shares of different words.
    assert_eq!(names("tests").len(), 9);
    for key in ["family", "observed", "median", "low", "high", "p", "p_holm"] {
        assert!(told["tests"][0].get(key).is_some(), "{key}");
    }
    for key in ["feature", "value", "z", "weight", "low", "high"] {
        assert!(told["features"][0].get(key).is_some(), "{key}");
    }
    let sentence = told["verdict"]["sentence"].as_str().unwrap();
    let text = place
        .alone(&words("null E --runs 210 --null-seed 9"))
        .exits(0);
    assert_eq!(text.stdout.lines().next(), Some(sentence));
    assert!(
        text.stderr.contains("210 runs of null model descent"),
        "{}",
        text.stderr
    );
    let all = place.alone(&words("null E --all")).exits(0).stdout;
    for title in ["identical pairs", "similarity to a seed"] {
        assert!(all.contains(title) && !text.stdout.contains(title), "{all}");
    }
    // The same seed gives the same bytes.
    let again = place.alone(&arguments).exits(0);
    assert_eq!(json(&again), told);
}

#[test]
fn old_null_models_are_refused_with_the_new_name() {
    let place = run();
    for kind in ["random-copy", "seeds-only", "permutation"] {
        let told = format!("{kind} was replaced by descent");
        place
            .alone(&["null", "E", "--kind", kind])
            .exits(2)
            .tells(&[&told]);
    }
    for wrong in [
        "null E --runs 198",
        "null E --mu 2",
        "analyze E --null shuffle",
    ] {
        place.alone(&words(wrong)).exits(2);
    }
}

#[test]
fn null_runs_show_their_progress_and_stop_at_a_signal() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&words("run E --minds 40 --rounds 100 --seed 1 --active 60"))
        .exits(0);
    // More work than is done before the signal.
    let files = place.names("E");
    let mut child = start(&mut place.command(&words("report E")));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_progress = |line: &String| line.starts_with("null runs ") && line.ends_with(" s left");
    assert!(lines.any(|line| is_progress(&line.unwrap())));
    signal(child.id(), "-INT");
    let ran = finish(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""));
    assert_eq!(place.names("E"), files);
}

#[test]
fn lineage_names_who_spread() {
    let place = run();
    let summary = json(
        &place
            .alone(&["lineage", "E", "--json", "--top", "3"])
            .exits(0),
    );
    assert_eq!(summary["top"].as_array().unwrap().len(), 3);
    assert_eq!(summary["seeds"].as_array().unwrap().len(), 8);
    let text = place.alone(&["lineage", "E", "--top", "3"]).exits(0).stdout;
    let top = &summary["top"][0];
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("{} ", top["id"])))
        .unwrap();
    assert_eq!(
        line.split_whitespace().nth(2).unwrap(),
        top["descendants"].to_string()
    );
}

#[test]
fn export_writes_every_form_to_stdout_and_to_files() {
    let place = run();
    for (what, formats) in [
        ("lineage", &["graphml", "dot", "csv", "jsonl"][..]),
        ("exposure", &["graphml", "dot", "csv", "jsonl"]),
        ("messages", &["csv", "jsonl"]),
        ("metrics", &["csv", "jsonl"]),
    ] {
        for format in formats {
            let arguments = ["export", what, "E", "--format", format];
            let ran = place.alone(&arguments).exits(0);
            assert!(!ran.stdout.is_empty());
            let out = format!("out/{what}.{format}");
            let to_file = place
                .alone(&[&arguments[..], &["-o", &out]].concat())
                .exits(0);
            assert_eq!(
                (to_file.stdout.as_str(), place.read(&out)),
                ("", ran.stdout)
            );
        }
    }
    let refused = place
        .alone(&["export", "messages", "E", "--format", "dot"])
        .exits(2);
    assert!(refused.stdout.is_empty());
    refused.tells(&["dot", "only as csv, jsonl"]);
    let journal = place.bytes("E/logs/experiment.jsonl");
    let over = words("export messages E --format csv -o E/logs/experiment.jsonl");
    place.alone(&over).exits(2);
    assert_eq!(place.bytes("E/logs/experiment.jsonl"), journal);
}

#[test]
fn formulas_are_guarded_unless_raw() {
    let place = Place::new();
    place.seeded("E", &["=HYPERLINK(1)", "plain"]);
    place
        .alone(&["run", "E", "--rounds", "1", "--seed", "1", "--no-stamp"])
        .exits(0);
    let arguments = ["export", "messages", "E", "--format", "csv"];
    let guarded = place.alone(&arguments).exits(0);
    assert!(
        guarded.stdout.contains(",'=HYPERLINK(1)\r\n"),
        "{}",
        guarded.stdout
    );
    let raw = place
        .alone(&[&arguments[..], &["--raw-csv"]].concat())
        .exits(0);
    assert!(raw.stdout.contains(",=HYPERLINK(1)\r\n"), "{}", raw.stdout);
}

#[test]
fn what_minds_wrote_cannot_steer_a_terminal() {
    let place = Place::new();
    place.seeded("E", &["\u{1b}[2J evil \u{202e}txet \u{9b}31m \u{7}"]);
    place
        .alone(&["run", "E", "--rounds", "3", "--seed", "1"])
        .exits(0);
    for command in ["analyze", "lineage"] {
        let ran = place.alone(&[command, "E"]).exits(0);
        let bad = |char: char| char != '\n' && (char.is_control() || char == '\u{202e}');
        assert!(!ran.stdout.contains(bad), "{:?}", ran.stdout);
    }
}

#[test]
fn what_is_no_journal_is_named() {
    let place = run();
    let journal = place.read("E/logs/experiment.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    place.file("empty.jsonl", "");
    place.file(
        "gap.jsonl",
        [&lines[..3], &lines[4..]].concat().join("\n") + "\n",
    );
    place.file("no.jsonl", "hello\n");
    for command in [
        &["analyze"][..],
        &["lineage"],
        &["null-model", "--kind", "shuffle"],
        &["export", "messages", "--format", "csv"],
    ] {
        for (file, words) in [
            ("empty.jsonl", "empty"),
            ("gap.jsonl", "line 4"),
            ("no.jsonl", "line 1"),
            ("nowhere", "nowhere"),
        ] {
            let ran = place.alone(&[command, &[file]].concat()).exits(2);
            assert_eq!(ran.stdout, "");
            ran.tells(&[file, words]);
        }
    }
    // A run that is under way: what was written to its end is measured.
    let torn = journal.len() - 30;
    place.file("torn.jsonl", &journal[..torn]);
    place.alone(&["analyze", "torn.jsonl"]).exits(0);
}

#[test]
fn l27_analyze_begins_with_the_sentence_of_the_page() {
    let place = run();
    place.alone(&["report", "E"]).exits(0);
    let page = place.read("E/report.html");
    let text = place.alone(&["analyze", "E"]).exits(0).stdout;
    let sentence = text.lines().next().unwrap();
    assert!(page.contains(sentence), "{sentence}");
    assert!(!text.contains("rises") && !text.contains("falls"), "{text}");
    let rows = |text: &str| -> usize {
        let rows = text.lines().skip(2).filter(|line| !line.is_empty());
        rows.filter(|line| !line.starts_with("measure ") && !line.starts_with("texts "))
            .count()
    };
    // At most eight rows, whether there is a test or not.
    assert!((4..=8).contains(&rows(&text)), "{text}");
    let tested = long_run();
    let text = tested.alone(&["analyze", "E"]).exits(0).stdout;
    assert!((4..=8).contains(&rows(&text)), "{text}");
    assert!(text.contains("choice, largest z"), "{text}");
    let all = place.alone(&["analyze", "E", "-v"]).exits(0).stdout;
    assert!(
        all.contains("input_similarity") && all.contains("95 % interval: of the mean"),
        "{all}"
    );
}
