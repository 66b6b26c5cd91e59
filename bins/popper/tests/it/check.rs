//! `popper check`: verdicts as a table and as JSON, and the exit codes.

mod unreadable;

use serde_json::{Value, json};
use test_support::program::signal;

use crate::process::{command, false_law, file, law, popper, popper_reads, quick, without_folder};

const FIXTURES: [&str; 3] = [
    "fixtures/popper/laws/true.json",
    "fixtures/popper/laws/false.json",
    "fixtures/popper/laws/unknown.json",
];

#[test]
fn the_fixtures_get_the_verdicts_that_are_expected() {
    let mut arguments = vec!["check", "--expect", "fixtures/popper/expectations.json"];
    arguments.extend(FIXTURES);
    let ran = popper(&arguments);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("34 as expected\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_table_has_a_line_for_each_law_in_the_order_of_the_files() {
    let mut unknown = law("needs_more");
    unknown["observables"][0]["expr"] = json!("momentum");
    let first = file(
        "table_1.json",
        json!([law("movers"), false_law("collisions")]).to_string(),
    );
    let second = file("table_2.json", unknown.to_string());
    let ran = popper(&["check", &first, &second]);
    insta::assert_snapshot!(ran.text());
}

#[test]
fn json_is_one_array_of_whole_verdicts() {
    let laws = file("json.json", json!([law("a"), false_law("b")]).to_string());
    let ran = popper(&["check", "--json", "--seed=7", "--config", &quick(), &laws]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let verdicts = ran.json();
    let verdicts = verdicts.as_array().unwrap();
    assert_eq!(verdicts.len(), 2);
    for (verdict, (law_id, status)) in verdicts.iter().zip([("a", "PASS"), ("b", "FAIL")]) {
        assert_eq!(
            (&verdict["law_id"], &verdict["status"]),
            (&json!(law_id), &json!(status))
        );
        assert_eq!(verdict["seed"], 7);
        for key in [
            "schema_version",
            "law_fingerprint",
            "sim_hash",
            "harness_config_hash",
            "evidence",
            "power",
            "notes",
        ] {
            assert!(!verdict[key].is_null(), "{key}");
        }
        assert!(verdict["runtime_ms"].is_u64());
    }
    assert_eq!(verdicts[1]["counterexample"]["minimal"], true);
}

#[test]
fn verdicts_are_the_same_bytes_for_any_number_of_threads() {
    let laws = file(
        "threads.json",
        json!([law("a"), false_law("b")]).to_string(),
    );
    let verdicts = |threads| {
        let mut command = command(&["check", "--json", &laws]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        let mut verdicts: Value = serde_json::from_slice(&output.stdout).unwrap();
        for verdict in verdicts.as_array_mut().unwrap() {
            verdict["runtime_ms"] = json!(0);
        }
        verdicts.to_string()
    };
    let alone = verdicts("1");
    assert_eq!(alone, verdicts("2"));
    assert_eq!(alone, verdicts("8"));
}

#[test]
fn a_bad_law_spoils_neither_its_file_nor_the_others() {
    let mut bad = law("bad");
    bad["quantifiers"]["T"] = json!(0);
    bad["clam"] = json!("r(t) == r(0)");
    let mixed = file("mixed.json", json!([law("good"), bad, 7]).to_string());
    let broken = file("broken.json", "{\"law_id\": ");
    let other = file("other.json", law("other").to_string());
    let ran = popper(&[
        "check",
        "--json",
        "--config",
        &quick(),
        &broken,
        &mixed,
        &other,
    ]);
    assert_eq!(ran.code, Some(3));
    let ids: Vec<_> = ran
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|verdict| verdict["law_id"].clone())
        .collect();
    assert_eq!(ids, ["good", "other"]);
    insta::assert_snapshot!(without_folder(&ran.stderr));
}

#[test]
fn no_law_at_all_is_a_usage_error_and_still_an_array() {
    let broken = file("none.json", "[1]");
    let ran = popper(&["check", "--json", &broken, "/nowhere/laws.json"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.json(), json!([]));
    insta::assert_snapshot!(without_folder(&ran.stderr));
}

#[test]
fn a_claim_that_does_not_parse_is_unknown_with_the_column() {
    let mut bad = law("bad_claim");
    bad["template"] = json!("implication_state");
    bad["claim"] = json!("r(t) is constant");
    let laws = file("ambiguous.json", bad.to_string());
    let ran = popper(&["check", "--json", &laws]);
    assert_eq!(ran.code, Some(3));
    let verdict = &ran.json()[0];
    assert_eq!(verdict["status"], "UNKNOWN");
    assert_eq!(verdict["reason_code"], "ambiguous_claim");
    assert!(
        verdict["notes"][0].as_str().unwrap().contains("column 6"),
        "{verdict}"
    );
}

#[test]
fn laws_may_come_from_stdin() {
    let ran = popper_reads(
        "laws.stdin",
        law("a").to_string(),
        &["check", "--json", "--config", &quick(), "-"],
    );
    assert_eq!(
        (ran.code, ran.json()[0]["law_id"].clone()),
        (Some(0), json!("a"))
    );
    let ran = popper_reads("bad.stdin", "{", &["check", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.starts_with("popper: stdin: $: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_law_of_another_universe_is_decided_there() {
    let mut cars = law("cars");
    cars["observables"][0]["expr"] = json!("count('#')");
    let laws = file("cars.json", cars.to_string());
    for (rule, status) in [("184", "PASS"), ("110", "FAIL")] {
        let universe = format!("--universe=fixtures/popper/universes/elementary_{rule}.json");
        let ran = popper(&["check", "--json", "--config", &quick(), &universe, &laws]);
        assert_eq!(ran.json()[0]["status"], status, "{rule}: {}", ran.stdout);
    }
}

#[test]
fn a_reader_that_leaves_is_a_quiet_end() {
    let many: Vec<Value> = (0..40).map(|index| law(&format!("a{index}"))).collect();
    let laws = file("pipe.json", Value::from(many).to_string());
    let mut child = command(&["check", "--json", "--config", &quick(), &laws])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Waits until the process has a handler for SIGINT: the mask of caught signals says so.
#[cfg(target_os = "linux")]
fn catches_ctrl_c(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else {
        return false;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (2 - 1)) != 0)
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_prints_what_is_finished_and_ends_with_130() {
    let many: Vec<Value> = (0..20_000)
        .map(|index| false_law(&format!("again{index}")))
        .collect();
    let laws = file("many.json", Value::from(many).to_string());
    let child = command(&["check", "--json", &laws])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !catches_ctrl_c(child.id()) {
        std::thread::yield_now();
    }
    signal(child.id(), "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let verdicts: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(verdicts.len() < 20_000);
    assert!(verdicts.iter().all(|verdict| verdict["status"] == "FAIL"));
    let left = format!(
        "popper: interrupted: {} laws are not decided\n",
        20_000 - verdicts.len()
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), left);
}
