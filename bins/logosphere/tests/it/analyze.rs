//! The results of a run: analyze, lineage, null and export.

use serde_json::Value;

use crate::program::{Place, Ran, words};

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

    let arguments = ["analyze", "E", "--json", "--null", "random-copy"];
    let null = place.alone(&arguments).exits(0);
    assert_eq!(null.stdout, place.alone(&arguments).exits(0).stdout);
    let null = json(&null);
    assert_eq!(
        (&null["null"]["model"], &null["null"]["runs"]),
        (&"random-copy".into(), &200.into())
    );
    assert!(null["metrics"][0]["null"]["median"].is_number());
    assert!(null["metrics"][0]["points"][7]["null"]["p"].is_number());
    // Measures that the null model cannot change have no row.
    let text = place
        .alone(&["analyze", "E", "-v", "--null", "shuffle"])
        .exits(0);
    let rows = |name: &str| text.stdout.matches(name).count();
    assert_eq!(
        (rows("input_similarity"), rows("turnover")),
        (1, 0),
        "{}",
        text.stdout
    );

    for wrong in ["rounds:0", "rounds", "all"] {
        place
            .alone(&["analyze", "E", "--window", wrong])
            .exits(2)
            .tells(&["rounds:R"]);
    }
}

#[test]
fn null_holds_a_run_against_a_model() {
    let place = run();
    for kind in ["random-copy", "seeds-only", "shuffle", "permutation"] {
        let ran = place.alone(&["null-model", "E", "--kind", kind]).exits(0);
        let row = match kind {
            "shuffle" => "input_similarity",
            "permutation" => "near_similarity",
            _ => "pair_identity",
        };
        assert!(
            ran.stdout.contains(kind) && ran.stdout.contains(row),
            "{}",
            ran.stdout
        );
    }
    let arguments = words("null-model E --kind random-copy --json --mu 0.25 --seed 9 --runs 210");
    let told = json(&place.alone(&arguments).exits(0));
    let facts = &told["null"];
    assert_eq!(
        (&facts["mu"], &facts["runs"], &facts["seed"]),
        (&0.25.into(), &210.into(), &9.into())
    );
    let names = told["metrics"].as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|metric| &metric["name"]).collect();
    assert!(names.contains(&&"turnover".into()) && !names.contains(&&"messages".into()));
    place
        .alone(&["null-model", "E", "--mu", "2"])
        .exits(2)
        .tells(&["--mu"]);
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
fn a_run_of_the_old_program_is_measured() {
    let place = Place::new();
    place.file(
        "E/init.md",
        "n\n---\nfirst seed\n---\nsecond seed\n---\n\n---\n~init\n",
    );
    let config = r#"{"N_MINDS":1,"K_SAMPLES":2,"M_ACTIVE_POOL":2,"MAX_ROUNDS":1,"TOKEN_LIMIT":9,"MODEL":"m"}"#;
    let call = r#""input_messages":["second seed\n\n~init","first seed\n\n~init"],"thinking":"t","transmitted":["second seed"],"completed":true,"signature":"","tokens_used":3,"raw_output":"t\n---\nsecond seed\n---\n\n---\n""#;
    let lines = [
        format!(
            r#"{{"type":"experiment_start","timestamp":"x","config":{config},"init_signature":"~init","num_seed_messages":2}}"#
        ),
        r#"{"type":"round_start","round":1,"pool_size":2,"active_pool_size":2}"#.to_owned(),
        format!(r#"{{"type":"mind_invocation","round":1,"mind_id":0,{call}}}"#),
        r#"{"type":"round_end","round":1,"messages_added":1,"pool_delta":["second seed"]}"#
            .to_owned(),
    ];
    place.file("E/logs/experiment.jsonl", lines.join("\n") + "\n");
    let analysis = json(&place.alone(&["analyze", "E", "--json"]).exits(0));
    assert_eq!(analysis["run"]["legacy"], true);
    assert_eq!(analysis["volume"]["messages"], 3);
    assert_eq!(analysis["lineage"]["exact"], 1);
    let exported = words("export exposure E/logs/experiment.jsonl --format csv");
    let exported = place.alone(&exported).exits(0);
    assert_eq!(
        exported.stdout,
        "source,target,round,mind\r\n1,2,1,0\r\n0,2,1,0\r\n"
    );
    std::fs::remove_file(place.path("E/init.md")).unwrap();
    place.alone(&["lineage", "E"]).exits(2).tells(&["init.md"]);
}

#[test]
fn l27_analyze_begins_with_the_sentence_of_the_page() {
    let place = run();
    place.alone(&["report", "E"]).exits(0);
    let page = place.read("E/report.html");
    for null in [&[][..], &["--null", "random-copy"]] {
        let text = place
            .alone(&[&["analyze", "E"], null].concat())
            .exits(0)
            .stdout;
        let sentence = text.replace('\n', " ");
        let (sentence, _) = sentence.split_once(" rounds.").unwrap();
        let start = format!("{sentence} rounds.");
        assert!(page.contains(&start), "{start}");
        // Rounds share messages, so the p of a trend proves none.
        assert!(!text.contains("rises") && !text.contains("falls"), "{text}");
        let rows = text
            .lines()
            .skip_while(|line| !line.starts_with("measure "))
            .skip(1);
        assert_eq!(
            rows.take_while(|line| !line.starts_with("chance: "))
                .count(),
            4,
            "{text}"
        );
        assert!(
            text.contains("new texts in the window") && !text.contains("turnover"),
            "{text}"
        );
    }
    let all = place.alone(&["analyze", "E", "-v"]).exits(0).stdout;
    assert!(
        all.contains("input_similarity") && all.contains("95 % interval: of the mean"),
        "{all}"
    );
}
