//! `--rubric`, `--judge-prompt` and `--gate`.

use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column, list, words};

const JUDGE: &str = r#"
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
