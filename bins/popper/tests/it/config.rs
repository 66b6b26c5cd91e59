//! `--config`, and the flags that win over it.

use serde_json::{Value, json};

use crate::process::{Ran, file, law, popper, quick, without_folder};

fn check(name: &str, config: &str, flags: &[&str]) -> Ran {
    let config = file(&format!("{name}.config.json"), config);
    let laws = file(&format!("{name}.json"), law("a").to_string());
    let mut arguments = vec!["check", "--json", "--config", &config, &laws];
    arguments.extend(flags);
    popper(&arguments)
}

#[test]
fn a_flag_wins_over_the_file_and_changes_the_hash_unless_it_is_the_seed() {
    let config =
        r#"{"seed": 3, "exhaustive_n": 4, "minimal_n": 4, "ladder": [8], "generations": 0}"#;
    let verdict = |name, flags: &[&str]| -> Value { check(name, config, flags).json()[0].clone() };
    let plain = verdict("plain", &[]);
    let seeded = verdict("seeded", &["--seed", "5"]);
    let larger = verdict("larger", &["--exhaustive-n=5"]);
    assert_eq!((&plain["seed"], &seeded["seed"]), (&json!(3), &json!(5)));
    assert_eq!(plain["harness_config_hash"], seeded["harness_config_hash"]);
    assert_ne!(plain["harness_config_hash"], larger["harness_config_hash"]);
}

#[test]
fn what_the_harness_does_not_know_is_a_usage_error() {
    let mut errors = String::new();
    for (name, config, flags) in [
        ("unknown_key", r#"{"seeds": 3}"#, &[] as &[&str]),
        ("wrong_type", r#"{"seed": "three"}"#, &[]),
        ("not_json", "seed = 3", &[]),
        ("out_of_range", r#"{"exhaustive_n": 21}"#, &[]),
        ("unknown_extension", "{}", &["--extension", "time_travel"]),
        ("flag_out_of_range", "{}", &["--exhaustive-n", "21"]),
    ] {
        let ran = check(name, config, flags);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{name}");
        errors.push_str(&without_folder(&ran.stderr));
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn the_extension_is_off_until_it_is_asked_for() {
    let mut local = law("local");
    local["template"] = json!("local_transition");
    local["observables"] = json!([]);
    local["claim"] = json!("");
    local["trigger_symbol"] = json!(">");
    local["neighbor_pattern"] = json!(".>.");
    local["result_symbol"] = json!(".");
    let laws = file("local.json", local.to_string());
    let refused = popper(&["check", &laws]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("$.template"), "{}", refused.stderr);
    let ran = popper(&[
        "check",
        "--json",
        "--config",
        &quick(),
        "--extension",
        "local_transition",
        &laws,
    ]);
    assert_eq!(
        (ran.code, ran.json()[0]["status"].clone()),
        (Some(0), json!("PASS")),
        "{}",
        ran.stdout
    );
}
