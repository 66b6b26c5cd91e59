//! `import`, and the commands that measure or refuse imported messages.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::program::{Place, Ran, SEEDS};

/// Returns posts of six authors, each a copy of one of two posts that its author had read, or nearly one.
fn posts(reads: bool) -> String {
    let mut texts: Vec<String> = SEEDS.iter().map(|seed| (*seed).to_owned()).collect();
    let mut lines = String::new();
    for id in 0..160_usize {
        let mut post =
            json!({"id": id, "author": format!("p{}", id % 6), "time": 1_767_312_000 + 60 * id});
        if id >= SEEDS.len() {
            let read = [id - 1 - id * 5 % 4, id - 5 - id * 3 % 3];
            let mut words: Vec<String> = texts[read[id * 13 % 2]]
                .split(' ')
                .map(str::to_owned)
                .collect();
            let at = id * 11 % words.len();
            words[at] = format!("w{}", id % 9);
            texts.push(words.join(" "));
            if reads {
                post["reads"] = json!(read);
            }
        }
        post["text"] = json!(texts[id]);
        let _ = writeln!(lines, "{post}");
    }
    lines
}

/// Imports `posts.jsonl`, and returns the folder.
fn import(place: &Place, flags: &[&str]) -> (String, Ran) {
    let ran = place
        .alone(&[&["import", "posts.jsonl", "--name", "posts"], flags].concat())
        .exits(0);
    (ran.stdout.trim().to_owned(), ran)
}

#[test]
fn imported_messages_are_measured_by_name_and_by_path() {
    let place = Place::new();
    place.file("posts.jsonl", posts(true));
    let (folder, ran) = import(&place, &[]);
    assert!(
        ran.stderr
            .contains("160 messages of 6 authors in 4 rounds, reads recorded"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.names(&folder), ["imported.jsonl"]);
    let by_name = place.alone(&["analyze", "posts"]).exits(0).stdout;
    let file = format!("{folder}/imported.jsonl");
    for given in [&[][..], &[folder.as_str()], &[file.as_str()]] {
        let ran = place.alone(&[&["analyze"], given].concat()).exits(0);
        assert_eq!(ran.stdout, by_name, "{given:?}");
    }
    assert!(by_name.contains("choice, largest z"), "{by_name}");
    let json = place.alone(&["analyze", "posts", "--json"]).exits(0).json();
    assert_eq!(json["run"]["imported"]["exposure"], "recorded");
    assert_eq!(json["run"]["imported"]["sources"][0]["name"], "posts.jsonl");
    assert_eq!(json["null"]["kind"], "descent");
    let lineage = place.alone(&["lineage", "posts"]).exits(0).stdout;
    assert!(
        lineage.starts_with("lineage: of 160 messages "),
        "{lineage}"
    );
    place
        .alone(&["null-model", "posts", "--runs", "199"])
        .exits(0);
    place
        .alone(&["null", "posts", "--kind", "shuffle", "--runs", "199"])
        .exits(0);
    let exposure = place
        .alone(&["export", "exposure", "posts"])
        .exits(0)
        .stdout;
    assert_eq!(exposure.lines().count(), 1 + 2 * 152);
    place.alone(&["report", "posts"]).exits(0);
    let page = place.read(&format!("{folder}/report.html"));
    assert!(page.contains("Logosphere: 160 imported messages, 6 authors"));
    place
        .alone(&["report", "posts", "--watch", "-o", "page.html"])
        .exits(0);
    assert_eq!(place.read("page.html"), page);
    // An output never takes the place of the messages.
    place.alone(&["report", "posts", "-o", &file]).exits(2);
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let place = Place::new();
    place.file("posts.jsonl", posts(true));
    let (first, _) = import(&place, &[]);
    let (second, _) = import(&place, &[]);
    assert_eq!(second, format!("{first}-2"));
    let bytes = |folder: &str| place.bytes(&format!("{folder}/imported.jsonl"));
    assert_eq!(bytes(&first), bytes(&second));
}

#[test]
fn commands_for_journals_refuse_imported_messages() {
    let place = Place::new();
    place.file("posts.jsonl", posts(false));
    let (folder, _) = import(&place, &[]);
    let file = format!("{folder}/imported.jsonl");
    let before = place.files(".");
    for given in ["posts", folder.as_str(), file.as_str()] {
        for command in [
            "run",
            "resume",
            "status",
            "verify",
            "replay",
            "check-leaks",
            "leak",
            "estimate",
        ] {
            if given == file && ["run", "estimate"].contains(&command) {
                continue;
            }
            let ran = place.alone(&[command, given]).exits(2);
            assert!(
                ran.stderr
                    .contains(" holds imported messages, not a journal"),
                "{command} {given}: {}",
                ran.stderr
            );
        }
        let ran = place.alone(&["diff", given, given]).exits(2);
        assert!(
            ran.stderr
                .contains(" holds imported messages, not a journal"),
            "{}",
            ran.stderr
        );
    }
    let ran = place.alone(&["run", "--output-dir", &folder]).exits(2);
    assert!(
        ran.stderr
            .contains(&format!("{folder} holds imported messages, not a journal")),
        "{}",
        ran.stderr
    );
    place.alone(&["new", "again", "--from", "posts"]).exits(2);
    assert_eq!(place.files("."), before);
}

#[test]
fn reads_that_are_assumed_or_unknown_are_said_everywhere() {
    let place = Place::new();
    place.file("posts.jsonl", posts(false));
    let (_, ran) = import(&place, &["--reads", "window:4"]);
    let assumed = "each author read the 4 newest messages of other authors";
    assert!(
        ran.stderr
            .contains(&format!("it is assumed that {assumed}")),
        "{}",
        ran.stderr
    );
    let text = place.alone(&["analyze", "posts"]).exits(0).stdout;
    assert!(
        text.starts_with(&format!("Under the assumption that {assumed}: ")),
        "{text}"
    );
    assert!(
        !text.contains("choice") && !text.contains("times as often"),
        "{text}"
    );
    let all = place.alone(&["analyze", "posts", "-v"]).exits(0).stdout;
    assert!(
        all.contains("choice, largest z") && all.contains("times as often"),
        "{all}"
    );
    place
        .alone(&["report", "posts", "-o", "page.html"])
        .exits(0);
    assert_eq!(
        place
            .read("page.html")
            .matches(&format!("Under the assumption that {assumed}"))
            .count(),
        1
    );

    let (_, ran) = import(&place, &[]);
    assert!(
        ran.stderr
            .contains("it is not known which messages an author read"),
        "{}",
        ran.stderr
    );
    let text = place.alone(&["analyze", "posts"]).exits(0).stdout;
    assert!(
        text.starts_with("Not tested: it is not known which messages each author read.\n"),
        "{text}"
    );
    assert!(text.contains("similarity of visible texts"), "{text}");
    place.alone(&["null-model", "posts"]).exits(0);
    place
        .alone(&["report", "posts", "-o", "page.html"])
        .exits(0);
}

#[test]
fn bad_input_is_named_and_nothing_is_left() {
    let place = Place::new();
    let mut text = posts(false);
    for _ in 0..25 {
        text.push_str("{\"text\":\"\"}\n");
    }
    place.file("posts.jsonl", &text);
    let ran = place
        .alone(&["import", "posts.jsonl", "--name", "posts"])
        .exits(2);
    ran.tells(&[
        "bad messages: 25",
        "posts.jsonl line 161: text is missing",
        "line 180",
        "and 5 more",
        "--skip-bad",
    ]);
    assert!(!place.path("experiments").exists());
    let (folder, ran) = import(&place, &["--skip-bad"]);
    ran.tells(&["25 bad messages were left out"]);
    let first = place.read(&format!("{folder}/imported.jsonl"));
    assert!(
        first
            .lines()
            .next()
            .unwrap()
            .ends_with("\"messages\":160,\"skipped\":25}")
    );
    for (arguments, words) in [
        (&["import", "posts.jsonl"][..], "--name"),
        (&["import", "--name", "a"], "FILE"),
        (&["import", "posts.jsonl", "--name", "../a"], "not a name"),
        (&["import", "posts.txt", "--name", "a"], "unknown ending"),
        (&["import", "nowhere.csv", "--name", "a"], "nowhere.csv"),
        (
            &["import", "posts.jsonl", "--name", "a", "--map", "body=text"],
            "FIELD=COLUMN",
        ),
        (
            &["import", "posts.jsonl", "--name", "a", "--reads", "all"],
            "window:M",
        ),
        (
            &["import", "posts.jsonl", "--name", "a", "--round", "1m"],
            "messages:N",
        ),
        (
            &[
                "import",
                "posts.jsonl",
                "--name",
                "a",
                "--skip-bad",
                "--reads",
                "recorded",
            ],
            "--reads recorded",
        ),
    ] {
        place.alone(arguments).exits(2).tells(&[words]);
    }
    assert_eq!(place.names("experiments").len(), 1);
}

#[test]
fn hostile_csv_and_text_are_inert() {
    let place = Place::new();
    let text = "id,author,text,reads\n\
        1,<b>A</b>,\"</script><script>alert(1)</script>\",\n\
        2,\"\u{1b}[2J\",\"=HYPERLINK(\"\"http://x\"\")\",1\n\
        3,@SUM(A1),\"a \u{202e}b <img src=x onerror=alert(1)>\",1;2\n";
    place.file("bad.csv", text);
    let import = [
        "import",
        "bad.csv",
        "--name",
        "bad",
        "--keep-authors",
        "--map",
        "text=text",
    ];
    let ran = place.alone(&import).exits(0);
    assert!(!ran.all().contains('\u{1b}'));
    place.alone(&["report", "bad", "-o", "page.html"]).exits(0);
    let page = place.read("page.html");
    for element in ["<script>alert", "<img src=x", "<b>A"] {
        assert!(!page.contains(element), "{element}");
    }
    let csv = place.alone(&["export", "messages", "bad"]).exits(0).stdout;
    assert!(csv.contains("\"'=HYPERLINK"), "{csv}");
    let shown = place.alone(&["lineage", "bad"]).exits(0).stdout;
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown}"
    );
    // A file whose name is a terminal's command.
    fs::write(place.path("\u{1b}[2J.csv"), "text\n\n\" \"\n").unwrap();
    let ran = place
        .alone(&["import", "\u{1b}[2J.csv", "--name", "x"])
        .exits(2);
    assert!(!ran.all().contains('\u{1b}'), "{}", ran.all());
}

/// A run of the Python program of one round and its other files, in `old`.
fn old_run(place: &Place) -> String {
    place.file(
        "old/init.md",
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
    let journal = lines.join("\n") + "\n";
    place.file("old/logs/experiment.jsonl", &journal);
    place.file(
        "old/novel_memes.yaml",
        "round: 1\nmind_id: 0\ncontent: |-\n  second seed\n",
    );
    place.file(
        "old/diversity_metrics.json",
        r#"{"rounds":[1,2,3,4,5],"mean_similarity":[0.5,0.25,1.0,0.75,0.5],"distance_from_seed":[0.5,0.5,0.5,0.5,0.25],"num_messages":[2,2,1,3,2]}"#,
    );
    journal
}

#[test]
fn a_run_of_the_old_program_is_imported() {
    let place = Place::new();
    let journal = old_run(&place);
    for command in ["analyze", "verify", "report"] {
        place
            .alone(&[command, "old"])
            .exits(2)
            .tells(&["`logosphere import FILE --format reference --name NAME` converts it"]);
    }
    let import = |files: &[&str]| {
        place.alone(&[&["import", "--format", "reference", "--name", "old"], files].concat())
    };
    import(&["old/logs/experiment.jsonl", "old/diversity_metrics.json"]).exits(0);
    let analysis = place.alone(&["analyze", "old", "--json"]).exits(2);
    // A folder of this name is nearer than an experiment's.
    assert!(analysis.stderr.contains("Python"), "{}", analysis.stderr);
    let newest = place.alone(&["analyze", "--json"]).exits(0).json();
    assert_eq!(newest["volume"]["messages"], 3);
    assert_eq!(newest["volume"]["seeds"], 2);
    assert_eq!(newest["lineage"]["exact"], 1);
    let metrics = &newest["run"]["imported"]["reference_metrics"];
    assert_eq!(metrics["rounds"], json!([1, 2, 4, 5]));
    let all = place.alone(&["analyze", "-v"]).exits(0).stdout;
    assert!(
        all.contains("by quarter of 4 rounds (1 of a single message left out):"),
        "{all}"
    );
    assert!(
        all.contains("similarity within a round  0.5000 0.2500 0.7500 0.5000"),
        "{all}"
    );
    let page = place.alone(&["report", "-o", "-"]).exits(0).stdout;
    assert!(page.contains("Measures of the Python program"));
    let exposure = place.alone(&["export", "exposure"]).exits(0).stdout;
    assert_eq!(
        exposure,
        "source,target,round,mind\r\n1,2,1,0\r\n0,2,1,0\r\n"
    );

    import(&["old/novel_memes.yaml"]).exits(0);
    let newest = place.alone(&["analyze", "--json"]).exits(0).json();
    assert_eq!(newest["run"]["imported"]["exposure"], "none");
    import(&["old/novel_memes.yaml", "old/logs/experiment.jsonl"])
        .exits(2)
        .tells(&["give one file"]);
    place.file("old/other.txt", "");
    import(&["old/other.txt"])
        .exits(2)
        .tells(&["not a file of the Python program"]);
    for (from, to) in [
        ("\"completed\":true", "\"completed\":false"),
        ("[\"second seed\"]}", "[\"other\"]}"),
        ("\"messages_added\":1", "\"messages_added\":2"),
    ] {
        place.file("old/logs/experiment.jsonl", journal.replacen(from, to, 1));
        import(&["old/logs/experiment.jsonl"])
            .exits(2)
            .tells(&["line"]);
    }
    place.file("alone.jsonl", &journal);
    import(&["alone.jsonl"]).exits(2).tells(&["init.md"]);
    import(&["alone.jsonl", "old/init.md"]).exits(0);
}

#[test]
fn the_result_of_an_import_is_one_json_object() {
    let place = Place::new();
    place.file("posts.jsonl", posts(true));
    let (_, ran) = import(&place, &["--json"]);
    let mut result = ran.json();
    let path = result["path"].take();
    let path = path.as_str().unwrap();
    assert!(
        path.starts_with("experiments/") && path.ends_with("-posts"),
        "{path}"
    );
    let mut expected = json!({
        "schema_version": 1, "path": null, "messages": 160, "authors": 6, "rounds": 4,
        "exposure": "recorded", "skipped": 0, "lost_links": 0, "unknown_reads": 0
    });
    assert_eq!(result, expected);
    // What is left out and assumed is in the object, too.
    let more =
        "{\"text\": \" \"}\n{\"text\": \"Last.\", \"parent\": \"none\", \"time\": 1800000000}\n";
    place.file("posts.jsonl", posts(false) + more);
    let (_, ran) = import(&place, &["--json", "--skip-bad", "--reads", "window:3"]);
    let mut result = ran.json();
    assert!(
        result["path"]
            .take()
            .as_str()
            .unwrap()
            .ends_with("-posts-2")
    );
    for (key, value) in [("messages", 161), ("skipped", 1), ("lost_links", 1)] {
        expected[key] = json!(value);
    }
    expected["exposure"] = json!("window:3");
    expected["assumption"] = json!("each author read the 3 newest messages of other authors");
    assert_eq!(result, expected);
}
