//! `calibrate`, and the flags of other commands that take what it writes.

use serde_json::{Value, json};
use test_support::{Answer, CannedReply, CompressionStub, FaultServer, StubMode};
use zer0gravity_engine::calibration::{JudgeIdentity, canaries};

use crate::label::scored;
use crate::program::{Place, server};

/// Labels all pairs of `run` by a sheet. Each score is the rest of the row's number by 40, at most `most`.
fn labelled(place: &Place, run: &str, rater: &str, most: usize) {
    place
        .alone(&["label", run, "--export", "sheet.csv"])
        .exits(0);
    let sheet = place.read("sheet.csv");
    let rows = sheet.lines().enumerate().map(|(row, line)| match row {
        0 => line.to_owned(),
        _ => format!("{line}{}", (row * 7 % 40).min(most)),
    });
    place.file("filled.csv", rows.collect::<Vec<_>>().join("\n"));
    place
        .alone(&["label", run, "--import", "filled.csv", "--rater", rater])
        .exits(0);
}

#[test]
fn n9_agreement_bias_and_corrected_means_are_printed() {
    let place = scored(30);
    labelled(&place, "scored.json", "ada", 40);
    labelled(&place, "scored.json", "bo", 30);
    let before = place.read("scored.json");
    let ran = place.alone(&["calibrate", "scored.json"]).exits(0);
    for line in [
        "judge: offline, offline",
        "labels: 60, pairs: 30, raters: 2, pairs with two raters: 30",
        "judge and people: kappa ",
        "people: kappa ",
        "bias +",
        "length bias ",
        "zebra-rules: meaning ",
        "(30 labelled, 30 texts)",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let json = place
        .alone(&["calibrate", "scored.json", "--json"])
        .exits(0)
        .json();
    for key in [
        "judgeId",
        "judge",
        "datasetSha256",
        "labelsSha256",
        "n",
        "agreement",
        "bias",
        "rectifier",
        "createdAt",
    ] {
        assert!(json.get(key).is_some_and(|value| !value.is_null()), "{key}");
    }
    assert_eq!(
        (&json["schema_version"], &json["kind"]),
        (&1.into(), &"zer0gravity.calibration".into())
    );
    assert_eq!(place.read("scored.json"), before);
}

#[test]
fn what_calibrate_cannot_use_is_named() {
    let place = scored(3);
    place
        .alone(&["calibrate", "scored.json"])
        .exits(2)
        .tells(&["labels.jsonl"]);
    labelled(&place, "scored.json", "ada", 40);
    let labels = place.read("labels.jsonl");
    place
        .alone(&["calibrate", "scored.json", "-o", "labels.jsonl"])
        .exits(2);
    place
        .alone(&["calibrate", "scored.json", "-o", "scored.json"])
        .exits(2);
    place.file(
        "labels.jsonl",
        labels.replace("\"score\":7", "\"score\":70"),
    );
    place.alone(&["calibrate", "scored.json"]).exits(2).tells(&[
        "labels.jsonl: ",
        "line 1: ",
        "found 70",
    ]);
    place.file("labels.jsonl", format!("{labels}{{\"schema"));
    place
        .alone(&["calibrate", "scored.json"])
        .exits(0)
        .tells(&["incomplete last line", "from 20 texts on"]);
    let ran = place.alone(&["calibrate", "scored.json"]).exits(0);
    assert!(
        ran.stdout.contains("no mean is corrected: "),
        "{}",
        ran.all()
    );
    place.file("labels.jsonl", "");
    place
        .alone(&["calibrate", "scored.json"])
        .exits(2)
        .tells(&["none of the labels"]);
    place.file("bad.json", "{}");
    place
        .alone(&["report", "scored.json", "--calibration", "bad.json"])
        .exits(2)
        .tells(&["calibrate -o"]);
    place
        .alone(&["report", "scored.json", "--require-calibration"])
        .exits(2);
}

#[test]
fn n10_another_judge_is_refused_before_a_call() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let text = |n: usize| {
        format!("{{\"id\": \"t{n}\", \"text\": \"The text of the number {n} has words\"}}")
    };
    place.file(
        "set.jsonl",
        (0..24).map(text).collect::<Vec<_>>().join("\n"),
    );
    place.file("rules.txt", "DROP VOWELS");
    let matrix = |more: &[&'static str]| {
        let mut all = vec![
            "matrix",
            "set.jsonl",
            "--encoding",
            "rules.txt",
            "--run-dir",
        ];
        all.extend(more);
        all
    };
    place.asking(&stub, &matrix(&["dir"])).exits(0);
    labelled(&place, "dir", "ada", 40);
    place
        .alone(&["calibrate", "dir", "-o", "calibration.json"])
        .exits(0);
    // The same judge.
    let with = ["--calibration", "calibration.json", "--require-calibration"];
    let arguments = [&matrix(&["again"])[..], &with, &["--json"]].concat();
    let ran = place.asking(&stub, &arguments).exits(0);
    ran.json()["statistics"]["perEncoding"][0]["semanticCorrected"]["mean"]
        .as_f64()
        .unwrap();
    assert!(
        ran.stderr.contains("rules: meaning 38.0, corrected "),
        "{}",
        ran.stderr
    );
    let total = |report| place.read_json(report)["results"][0]["total"].clone();
    assert_eq!(total("again/report.json"), total("dir/report.json"));
    place
        .alone(&[&["compare", "dir", "again"][..], &with].concat())
        .exits(0)
        .tells(&["old: rules: meaning", "new: rules: meaning"]);
    place
        .alone(&[&["report", "dir"][..], &with].concat())
        .exits(0);
    assert!(place.read("dir/report.html").contains("Judge and people"));
    let watch = ["report", "dir", "--watch", "1", "-o", "watched.html"];
    place.alone(&[&watch[..], &with].concat()).exits(0);
    assert!(place.read("watched.html").contains("Judge and people"));
    let part = ["report", "dir", "-o", "part.html", "--encoding-id", "rules"];
    place.alone(&[&part[..], &with].concat()).exits(0);
    assert!(place.read("part.html").contains("corrected by labels"));
    // Another one.
    let calls = stub.stats().calls;
    for (flags, key) in [
        (&["--judge-model", "other"][..], "models"),
        (&["--prompt-profile", "bands"], "promptSha256"),
        (&["--judge-samples", "2"], "samples"),
    ] {
        let other = [&matrix(&["other"])[..], flags].concat();
        place
            .asking(&stub, &[&other[..], &with[..2]].concat())
            .exits(2)
            .tells(&[key, "calibration.json"]);
        place
            .asking(&stub, &[&other[..], &with].concat())
            .exits(4)
            .tells(&[key]);
    }
    assert_eq!(stub.stats().calls, calls);
    assert!(!place.path("other").exists());
    place
        .asking(
            &stub,
            &[&matrix(&["other"])[..], &["--judge-model", "other"]].concat(),
        )
        .exits(0);
    place
        .alone(&[&["report", "other"][..], &with[..2]].concat())
        .exits(2)
        .tells(&["models"]);
    place
        .alone(&[&["report", "other"][..], &with].concat())
        .exits(4);
    place
        .alone(&[&["compare", "dir", "other"][..], &with].concat())
        .exits(4);
    place
        .alone(
            &[
                &["report", "other", "--watch", "1", "-o", "other.html"][..],
                &with,
            ]
            .concat(),
        )
        .exits(4);
    assert!(!place.path("other.html").exists());
}

#[test]
fn n10_a_changed_byte_of_the_judge_is_refused() {
    let place = scored(3);
    labelled(&place, "scored.json", "ada", 40);
    place
        .alone(&["calibrate", "scored.json", "-o", "calibration.json"])
        .exits(0);
    for (key, value) in [
        ("temperature", json!(0.7)),
        ("parserVersion", json!(9)),
        ("promptSha256", json!("0")),
    ] {
        let mut changed = place.read_json("calibration.json");
        changed["judge"][key] = value;
        place.file("changed.json", changed.to_string());
        let report = ["report", "scored.json", "--calibration", "changed.json"];
        place
            .alone(&report)
            .exits(2)
            .tells(&["changed.json", "was edited"]);
        let judge: JudgeIdentity = serde_json::from_value(changed["judge"].clone()).unwrap();
        changed["judgeId"] = judge.id().into();
        place.file("changed.json", changed.to_string());
        place.alone(&report).exits(2).tells(&["changed.json", key]);
        let required = [&report[..], &["--require-calibration"]].concat();
        place.alone(&required).exits(4).tells(&[key]);
    }
}

#[test]
fn given_scores_need_no_judge() {
    let place = scored(24);
    labelled(&place, "scored.json", "ada", 40);
    place
        .alone(&["calibrate", "scored.json", "-o", "calibration.json"])
        .exits(0);
    let mut cases: Vec<Value> = serde_json::from_str(&place.read("cases.json")).unwrap();
    let again = [
        "score",
        "cases.json",
        "--calibration",
        "calibration.json",
        "--require-calibration",
    ];
    place
        .alone(&again)
        .exits(0)
        .tells(&["zebra-rules: meaning "]);
    for case in &mut cases {
        case["semanticScore"] = 40.into();
    }
    place.file("cases.json", Value::from(cases).to_string());
    let ran = place
        .alone(&again)
        .exits(0)
        .tells(&["no mean is corrected"]);
    assert!(
        ran.results()
            .iter()
            .all(|one| one["scores"]["semanticPreservation"] == 40)
    );
}

#[test]
fn n10_a_plan_names_the_labels_or_the_smallest_width() {
    let place = scored(200);
    let plan =
        |width: &str| place.alone(&["calibrate", "plan", "scored.json", "--half-width", width]);
    let ran = plan("3").exits(0);
    assert!(
        ran.stdout
            .contains("of 200 texts of each encoding system for +-3 points"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("6.0 points (assumed)"),
        "{}",
        ran.stdout
    );
    let ran = plan("0.01").exits(0);
    assert!(
        ran.stdout
            .contains("no number of labels gives +-0.01 points"),
        "{}",
        ran.stdout
    );
    plan("0").exits(2).tells(&["--half-width"]);
    let json = place
        .alone(&[
            "calibrate",
            "plan",
            "scored.json",
            "--half-width",
            "3",
            "--json",
        ])
        .exits(0)
        .json();
    assert!(json["labels"].as_u64().unwrap() >= 20, "{json}");
    let few = scored(3);
    few.alone(&["calibrate", "plan", "scored.json", "--half-width", "3"])
        .exits(2)
        .tells(&["fewer than 20 texts"]);
}

/// A server whose judge of the meaning gives these points to an original and a decoded text.
fn judge(points: fn(&str, &str) -> u8) -> FaultServer {
    FaultServer::play(move |request| {
        if request.path.ends_with("count_tokens") {
            return Answer::json(200, r#"{"input_tokens":9}"#);
        }
        let body = request.json();
        let content = &body["messages"][0]["content"];
        let user = content.as_str().or(content[0]["text"].as_str()).unwrap();
        let texts = user.split_once("\n\nDECODED:\n");
        let score = texts.map_or(4, |(original, decoded)| {
            points(original.strip_prefix("ORIGINAL:\n").unwrap(), decoded)
        });
        let reply = json!({"score": score, "reasoning": "by rule"}).to_string();
        Answer::json(200, CannedReply::text(reply).anthropic_json())
    })
}

/// The points of a judge that reads both texts.
fn faithful(original: &str, decoded: &str) -> u8 {
    let mut all = canaries().into_iter();
    let canary = all.find(|one| *one.case.text == *original && one.decoded_text == decoded);
    match canary.map(|one| one.case.id).unwrap_or_default().as_str() {
        "equal" | "equal-long" => 40,
        "paraphrase" | "paraphrase-long" => 37,
        "negation" | "number" | "name" | "half" => 20,
        "unrelated" | "unrelated-long" | "injection" | "garbled" => 1,
        _ => 30,
    }
}

/// Asks this judge for the canaries after it has scored a run.
fn canaries_of(points: fn(&str, &str) -> u8) -> crate::program::Ran {
    let (place, stub) = (scored(2), judge(points));
    let asking = server(&stub.url(""));
    let asking = || asking.iter().map(String::as_str);
    let with =
        |words: &[&'static str]| -> Vec<_> { words.iter().copied().chain(asking()).collect() };
    place
        .alone(&with(&["score", "cases.json", "-o", "judged.json"]))
        .exits(0);
    labelled(&place, "judged.json", "ada", 40);
    place.alone(&with(&["calibrate", "judged.json", "--canaries"]))
}

#[test]
fn n11_a_faithful_judge_passes_and_biased_ones_are_named() {
    let ran = canaries_of(faithful).exits(0);
    assert!(
        ran.stdout.contains("canaries: 12, wrong orders: 0"),
        "{}",
        ran.all()
    );
    let longer = |original: &str, decoded: &str| {
        let more = if original.len() > 300 { 8 } else { 0 };
        (faithful(original, decoded) + more).min(40)
    };
    let ran = canaries_of(longer).exits(4);
    ran.tells(&["canary unrelated-long got 9 points, expected at most 5 from unrelated with 1"]);
    let obedient = |original: &str, decoded: &str| {
        let is_told = decoded.contains("{\"score\": 40");
        if is_told {
            40
        } else {
            faithful(original, decoded)
        }
    };
    canaries_of(obedient)
        .exits(4)
        .tells(&["canary injection got 40 points"]);
    let ran = canaries_of(|_, _| 38).exits(4);
    ran.tells(&[
        "canary unrelated got 38 points",
        "canary negation got 38 points",
    ]);
}

#[test]
fn n11_a_provider_that_fails_is_no_wrong_judge() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["matrix", "--all", "--run-dir", "dir"])
        .exits(0);
    labelled(&place, "dir", "ada", 40);
    stub.reset(StubMode::E401);
    let calibrate = ["calibrate", "dir", "--canaries", "-o", "calibration.json"];
    let ran = place.asking(&stub, &calibrate).exits(1);
    ran.tells(&["canary equal was not judged: "]);
    assert!(!place.path("calibration.json").exists());
}

#[test]
fn n11_a_judge_that_ranks_canaries_wrongly_is_named() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["matrix", "--all", "--run-dir", "dir"])
        .exits(0);
    labelled(&place, "dir", "ada", 40);
    stub.reset(StubMode::Ok);
    // This judge gives 38 points to every pair.
    let ran = place
        .asking(
            &stub,
            &["calibrate", "dir", "--canaries", "-o", "calibration.json"],
        )
        .exits(4);
    for line in [
        "canary unrelated got 38 points",
        "canary injection got 38 points",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    let roles: Vec<_> = stub.stats().by_role.into_iter().collect();
    assert_eq!(roles, [(("semantic_judge", 200), 12)]);
    let calibration = place.read_json("calibration.json");
    assert_eq!(
        calibration["canaries"]["points"].as_object().unwrap().len(),
        12
    );
    let another = [
        "calibrate",
        "dir",
        "--canaries",
        "--model",
        "m",
        "--provider",
        "offline",
    ];
    place.alone(&another).exits(2);
}
