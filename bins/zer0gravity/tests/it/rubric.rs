//! `--rubric`, `--judge-prompt` and `--gate`.

use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column, list, words};

pub const JUDGE: &str = r#"
schema_version = 1
name = "contracts"
[[scorer]]
id = "obligations"
kind = "judge"
scale = [0, 10]
system = 'An own measure. Reply {"score": 0 to 10, "reasoning": "..."}'
user = "ORIGINAL: {original} DECODED: {decoded}"
"#;

#[test]
fn n13_a_rescore_asks_the_judges_of_a_new_rubric_alone() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("rubric.toml", JUDGE);
    let matrix = words("matrix --level 1 --run-dir dir");
    place.asking(&stub, &matrix).exits(0);
    stub.reset(StubMode::Ok);
    let rescore = words("rescore dir --rubric rubric.toml --gate obligations>=4");
    let ran = place.asking(&stub, &rescore).exits(0);
    let line = "default: obligations 4.00 [0.04, 9.73] (0 to 10)";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let roles: Vec<_> = stub.stats().by_role.into_iter().collect();
    assert_eq!(roles, [(("own_judge", 200), 2)]);
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    assert_eq!(column(&results, "/ownScores/0/score"), ["4", "4"]);
    let encoding = &report["statistics"]["perEncoding"][0]["ownScores"][0];
    assert_eq!(
        (&encoding["id"], &encoding["mean"]),
        (&"obligations".into(), &4.into())
    );
    let csv = place.alone(&words("export dir")).exits(0).stdout;
    let (head, row) = (csv.lines().next().unwrap(), csv.lines().nth(1).unwrap());
    assert!(head.ends_with(",decodedText,own:obligations"), "{head}");
    assert!(row.ends_with(",4"), "{row}");
    let page = place.alone(&words("report dir -o -")).exits(0).stdout;
    assert!(page.contains("Own measures") && page.contains("obligations 4 (0 to 10)"));

    place.file(
        "rubric.toml",
        JUDGE.replace("An own measure", "Another own measure"),
    );
    let again = words("matrix --level 1 --run-dir new --rubric rubric.toml");
    place.asking(&stub, &again).exits(0);
    let ran = place.alone(&words("compare dir new")).exits(0);
    for line in [
        "measure obligations: 4.00 → 4.00 (+0.00",
        "changed: config.rubric.scorers.0.system",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn n13_gates_name_measures_and_fail_with_their_mean() {
    let place = Place::new();
    place.file("text.txt", "Pay 40 euros on Monday.");
    let run = "run text.txt --provider offline --json";
    for (gate, told) in [
        ("total>=99", "--gate total>=99: the mean is "),
        ("semantic<=1", "--gate semantic<=1: the mean is "),
    ] {
        let line = format!("{run} --junit out.xml --gate {gate}");
        place.alone(&words(&line)).exits(4).tells(&[told]);
        assert!(place.read("out.xml").contains("--gate"));
    }
    let holds = format!("{run} --gate total>=1 --gate critical_recall<=1");
    place.alone(&words(&holds)).exits(0);
    for (gate, told) in [
        ("other>=1", "measures are total, semantic, critical_recall"),
        ("total>1", "expected ID>=X or ID<=X"),
        ("total>=nan", "expected ID>=X or ID<=X"),
    ] {
        let line = format!("{run} --gate {gate}");
        place.alone(&words(&line)).exits(2).tells(&[told]);
    }
}

#[test]
fn n13_an_own_judge_prompt_is_named_where_its_points_are() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let prompt = "You judge semantic preservation of numbers. Reply {\"score\": 0 to 40}.";
    place.file("judge.txt", prompt);
    let line = "matrix --level 1 --run-dir dir --judge-prompt judge.txt";
    place.asking(&stub, &words(line)).exits(0);
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    assert_eq!(column(&results, "/metadata/promptProfile"), ["own", "own"]);
    let of_judge = |call: &test_support::StubCall| call.role == StubRole::SemanticJudge;
    let calls = stub.calls();
    assert!(
        calls
            .iter()
            .filter(|call| of_judge(call))
            .all(|call| call.body["system"] == prompt)
    );
    let page = place.alone(&words("report dir -o -")).exits(0).stdout;
    assert!(page.contains("had a prompt of the user"));
    let plain = words("matrix --level 1 --run-dir plain");
    place.asking(&stub, &plain).exits(0);
    let compared = place.alone(&words("compare plain dir --max-drop 5"));
    let compared = compared.exits(4);
    compared.tells(&["not comparable: judge differs"]);
    let shown = words("run --show-prompts --judge-prompt judge.txt --rubric rubric.toml");
    place.file("rubric.toml", JUDGE);
    let prompts = place.alone(&shown).exits(0).results();
    assert_eq!(prompts[2]["system"], prompt);
    assert_eq!(
        (&prompts[5]["role"], &prompts[5]["id"]),
        (&"ownJudge".into(), &"obligations".into())
    );

    place.file("judge.txt", "Be kind.");
    let offline = "run --level 1 --provider offline --judge-prompt judge.txt";
    place
        .alone(&words(offline))
        .exits(2)
        .tells(&["judge.txt", "the key \"score\""]);
    place.file("judge.txt", prompt);
    place
        .alone(&words(offline))
        .exits(2)
        .tells(&["--judge-prompt needs a model"]);
    place.file("rubric.toml", JUDGE.replace("kind", "kinds"));
    let line = "run --level 1 --provider offline --rubric rubric.toml";
    let ran = place.alone(&words(line)).exits(2);
    ran.tells(&["rubric.toml: line 6, column 1: unknown field `kinds`"]);
}

#[test]
fn n13_a_rescore_whose_own_judge_does_not_reply_keeps_the_report() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("rubric.toml", JUDGE);
    let matrix = words("matrix --level 1 --run-dir dir");
    place.asking(&stub, &matrix).exits(0);
    let before = place.read("dir/report.json");
    stub.reset(StubMode::E529Always);
    let rescore = words("rescore dir --rubric rubric.toml");
    let ran = place.asking(&stub, &rescore);
    ran.tells(&["2 of 2 results were not judged"]);
    assert_eq!(place.read("dir/report.json"), before);
    stub.reset(StubMode::NoScore);
    let matrix = words("matrix --level 1 --run-dir new --rubric rubric.toml");
    let ran = place.asking(&stub, &matrix).exits(1);
    assert!(ran.stdout.contains("scorer failed for 2"), "{}", ran.stdout);
    let offline = "matrix --level 1 --run-dir off --provider offline --rubric rubric.toml";
    let told = "--rubric: a judge needs a model";
    place.alone(&words(offline)).exits(2).tells(&[told]);
}

#[test]
fn n13_patterns_and_metrics_score_without_a_model() {
    let place = Place::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        place.file(name, "Pay 40 euros on Monday.");
    }
    let scorers = "schema_version = 1\nname = \"n\"\n[[scorer]]\nid = \"sum\"\nkind = \"contains\"\nof = \"decoded\"\npattern = \"40\"\nscale = [0, 0.7]\n";
    place.file("rubric.toml", scorers);
    let run = "run a.txt b.txt c.txt --provider offline --rubric rubric.toml --json";
    let line = format!("{run} --gate sum>=0.7");
    let ran = place.alone(&words(&line)).exits(0);
    ran.tells(&["sum:           0.70 (0 to 0.7; 3 of 3 scored)"]);
    let line = format!("{run} --gate sum>=0.71");
    let told = "--gate sum>=0.71: the mean is 0.7";
    place.alone(&words(&line)).exits(4).tells(&[told]);
}

/// A place with a text and a rubric of one program.
fn program(argv: &str) -> Place {
    let place = Place::new();
    place.file("text.txt", "Pay 40 euros on Monday.");
    let scorer = format!(
        "schema_version = 1\nname = \"n\"\n[[scorer]]\nid = \"own\"\nkind = \"command\"\nscale = [0, 10]\ntimeout_s = 1\nargv = {argv}\n"
    );
    place.file("rubric.toml", scorer);
    place
}

const RUN: &str = "run text.txt --provider offline --rubric rubric.toml --json";

#[test]
fn n13_a_program_scores_by_the_json_that_it_gets() {
    let place = program(
        r#"["sh", "-c", "cat > got.json; printf '{\"score\": 4.5, \"reasoning\": \"%s\"}' \"$1\"", "name", "a b; c"]"#,
    );
    let result = place.alone(&words(RUN)).exits(0).results().remove(0);
    let own = &result["ownScores"][0];
    let found = (&own["score"], &own["reasoning"]);
    assert_eq!(found, (&4.5.into(), &"a b; c".into()));
    let got = place.read_json("got.json");
    for (key, expected) in [
        ("original", "originalText"),
        ("encoded", "encodedText"),
        ("decoded", "decodedText"),
        ("rules", "encodingSystem"),
        ("testCaseId", "testCaseId"),
    ] {
        assert_eq!(got[key], result[expected], "{key}");
    }
}

#[test]
fn n13_a_program_that_hangs_fails_or_prints_garbage_fails_alone() {
    for (argv, cause) in [
        (
            r#"["sh", "-c", "sleep 100 & sleep 100"]"#,
            "did not end within 1 s",
        ),
        (
            r#"["sh", "-c", "echo no >&2; exit 3"]"#,
            "exit status: 3): no",
        ),
        (
            r#"["sh", "-c", "echo 'Traceback (most recent call last):' >&2; echo 'KeyError: a key of 22 letters' >&2; exit 1"]"#,
            "exit status: 1): KeyError: a key of 22 letters",
        ),
        (r#"["sh", "-c", "exit 3"]"#, "sh failed (exit status: 3)"),
        (
            r#"["sh", "-c", "echo '[3, null]'"]"#,
            "expected {\"score\": number",
        ),
        (
            r#"["sh", "-c", "echo score 4"]"#,
            "expected {\"score\": number",
        ),
        (
            r#"["sh", "-c", "echo '{\"score\": 11}'"]"#,
            "expected a score from 0 to 10, found 11",
        ),
        (r#"["sh", "-c", "yes"]"#, "did not end within 1 s"),
        (
            r#"["sh", "-c", "yes | head -c 70000"]"#,
            "printed more than 65536 bytes",
        ),
        (r#"["no-such-program"]"#, "cannot be run"),
    ] {
        let place = program(argv);
        let result = place.alone(&words(RUN)).exits(0).results().remove(0);
        let own = &result["ownScores"][0];
        assert_eq!(own["status"], "scorer_failed", "{argv}");
        let told = own["reasoning"].as_str().unwrap();
        assert!(told.contains(cause), "{argv}: {told}");
        assert!(result["total"].is_u64() && own.get("score").is_none());
        let gate = format!("{RUN} --gate own<=10");
        let failed = "--gate own<=10: the scorer failed for 1 of 1 results";
        place.alone(&words(&gate)).exits(4).tells(&[failed]);
    }
}

#[test]
fn n13_a_program_that_leaves_another_behind_scores() {
    let place = program(r#"["sh", "-c", "sleep 100 & echo '{\"score\": 3}'"]"#);
    let result = place.alone(&words(RUN)).exits(0).results().remove(0);
    assert_eq!(result["ownScores"][0]["score"], 3);
}

#[test]
fn n13_what_reads_a_run_starts_no_program_and_a_folder_needs_leave() {
    let place = program(r#"["sh", "-c", "echo ran >> ran.txt; echo '{\"score\": 3}'"]"#);
    let matrix = words("matrix text.txt --provider offline --run-dir dir --rubric rubric.toml");
    place.alone(&matrix).exits(0);
    std::fs::remove_file(place.path("dir/report.json")).unwrap();
    for line in ["status dir", "report dir -o -", "export dir"] {
        place.alone(&words(line)).exits_with_one_of(&[0, 3]);
    }
    let told = "the rubric of this run runs programs: [\"sh\", \"-c\"";
    place.alone(&words("resume dir")).exits(2).tells(&[told]);
    place.alone(&words("resume dir --allow-programs")).exits(0);
    let results = list(&place.read_json("dir/report.json")["results"]);
    assert_eq!(column(&results, "/ownScores/0/score"), ["3"]);
    assert_eq!(place.read("ran.txt"), "ran\n");
    // A run whose program was not asked yet.
    let calls = place.read("dir/calls.jsonl");
    let kept = calls.split_inclusive('\n');
    let kept = kept.filter(|line| !line.contains("own_program"));
    place.file("dir/calls.jsonl", kept.collect::<String>());
    std::fs::remove_file(place.path("dir/report.json")).unwrap();
    let status = place.alone(&words("status dir")).exits(0).stdout;
    let next = "continue with: zer0gravity resume dir --allow-programs\n";
    assert!(status.contains(next), "{status}");
}

#[test]
fn n13_a_folder_cannot_put_its_programs_into_a_run_that_was_asked_for() {
    let place = program(r#"["sh", "-c", "echo '{\"score\": 3}'"]"#);
    let matrix = words("matrix text.txt --provider offline --run-dir dir --rubric rubric.toml");
    place.alone(&matrix).exits(0);
    // What a rescore leaves that was killed before it was taken over.
    let mut plan = place.read_json("dir/run.json")["plan"].clone();
    let report = place.read_json("dir/report.json");
    plan["config"]["rubric"]["scorers"][0]["argv"] =
        serde_json::json!(["sh", "-c", "echo ran > ran.txt"]);
    let planted = serde_json::json!({
        "schema_version": 1, "complete": true, "plan": plan, "report": report,
    });
    place.file("dir/rescore.json", planted.to_string());
    place.alone(&matrix).exits(2);
    assert!(!place.path("ran.txt").exists());
}
