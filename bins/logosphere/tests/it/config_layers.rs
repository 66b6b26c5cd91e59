//! Defaults, then `config.json`, then flags; and what is written of them.

use serde_json::{Value, json};

use crate::journal::{self, events};
use crate::program::{Place, words};

/// Every key of section 7.
const KEYS: [&str; 31] = [
    "schema_version",
    "n_minds",
    "k_samples",
    "m_active_pool",
    "max_rounds",
    "token_limit",
    "provider",
    "model",
    "api_base_url",
    "system_prompt",
    "init_signature",
    "seed",
    "scheduling",
    "parse_mode",
    "impersonation",
    "stamp_seeds",
    "allow_zero_seeds",
    "keep",
    "concurrency",
    "on_error",
    "retries",
    "retry_wait",
    "max_messages",
    "max_message_chars",
    "stop",
    "caps",
    "options",
    "system_role",
    "durability",
    "system_prompt_sha256",
    "init_sha256",
];

fn effective(place: &Place, experiment: &str) -> Value {
    place.read_json(&format!("{experiment}/config.effective.json"))
}

#[test]
fn defaults_then_the_file_then_flags() {
    let place = Place::new();
    place.experiment("E");
    let given = "{ \"n_minds\": 2,\n\n  \"k_samples\": 1, \"max_rounds\": 3 , \"seed\": 9}";
    place.file("E/config.json", given);
    place
        .alone(&["run", "E", "--rounds", "1", "--samples", "2"])
        .exits(0);
    assert_eq!(
        place.read("E/config.json"),
        given,
        "a given file keeps its bytes"
    );
    let effective = effective(&place, "E");
    for (key, value) in [
        ("n_minds", json!(2)),
        ("k_samples", json!(2)),
        ("m_active_pool", json!(15)),
        ("max_rounds", json!(1)),
        ("token_limit", json!(2000)),
        ("seed", json!(9)),
        ("scheduling", json!("sequential")),
        ("parse_mode", json!("lenient")),
        ("impersonation", json!("keep")),
        ("stamp_seeds", json!(true)),
        ("allow_zero_seeds", json!(false)),
        ("keep", json!("all")),
        ("concurrency", json!(4)),
        ("on_error", json!("skip")),
        ("call_timeout", json!(null)),
        ("first_byte_timeout", json!(null)),
        ("retries", json!(2)),
        ("retry_wait", json!(60)),
        ("max_messages", json!(256)),
        ("max_message_chars", json!(0)),
        ("system_role", json!(false)),
        ("durability", json!("fsync")),
        ("init_signature", json!("~init")),
    ] {
        assert_eq!(effective[key], value, "{key}");
    }
    for key in KEYS {
        assert!(effective.get(key).is_some(), "{key}");
    }
    let start = &events(&place, "E")[0];
    assert_eq!(start["effective"], effective);
    let config = json!({
        "N_MINDS": 2, "K_SAMPLES": 2, "M_ACTIVE_POOL": 15, "MAX_ROUNDS": 1, "TOKEN_LIMIT": 2000,
        "MODEL": effective["model"],
    });
    assert_eq!(start["config"], config);
    let hash = journal::sha256(&place.bytes("E/init.md"));
    assert_eq!(start["init_sha256"], hash.as_str());
    assert_eq!(effective["init_sha256"], hash.as_str());
    let prompt = start["system_prompt"].as_str().unwrap();
    assert_eq!(
        start["system_prompt_sha256"],
        journal::sha256(prompt.as_bytes()).as_str()
    );
}

#[test]
fn an_absent_file_is_written_and_means_the_same() {
    let place = Place::new();
    place.experiment("A");
    let flags = words("--rounds 2 --minds 4 --seed 11 --scheduling snapshot");
    place.alone(&[&["run", "A"][..], &flags].concat()).exits(0);
    let snapshot = place.read("A/config.json");
    place.experiment("B");
    place.file("B/config.json", &snapshot);
    place.alone(&["run", "B"]).exits(0);
    assert_eq!(place.read("B/config.json"), snapshot);
    let settings = |name| {
        let mut settings = effective(&place, name);
        settings.as_object_mut().unwrap().remove("config_sha256");
        settings
    };
    assert_eq!(settings("A"), settings("B"));
    place
        .alone(&["diff", &journal::path("A"), &journal::path("B")])
        .exits(0);
}

#[test]
fn the_requirements_names_are_read_too() {
    let place = Place::new();
    for (name, config) in [
        (
            "flat",
            json!({"N_MINDS": 2, "K_SAMPLES": 1, "M_ACTIVE_POOL": 5, "MAX_ROUNDS": 2, "TOKEN_LIMIT": 99,
            "MODEL": "m", "API_BASE_URL": "http://127.0.0.1:9/v1", "SYSTEM_PROMPT": "Read.", "INIT_SIGNATURE": "~init",
            "seed": 1}),
        ),
        (
            "nested",
            json!({"parameters": {"N_MINDS": 2, "K_SAMPLES": 1, "M_ACTIVE_POOL": 5, "MAX_ROUNDS": 2,
            "TOKEN_LIMIT": 99}, "api": {"MODEL": "m", "API_BASE_URL": "http://127.0.0.1:9/v1"},
            "SYSTEM_PROMPT": "Read.", "INIT_SIGNATURE": "~init", "seed": 1}),
        ),
    ] {
        place.experiment(name);
        place.file(&format!("{name}/config.json"), config.to_string());
        place
            .alone(&["run", name, "--provider", "offline"])
            .exits(0);
        let effective = effective(&place, name);
        for (key, value) in [
            ("n_minds", json!(2)),
            ("k_samples", json!(1)),
            ("m_active_pool", json!(5)),
            ("max_rounds", json!(2)),
            ("token_limit", json!(99)),
            ("system_prompt", json!("Read.")),
        ] {
            assert_eq!(effective[key], value, "{name}: {key}");
        }
    }
}

#[test]
fn every_flag_of_run_is_taken() {
    let place = Place::new();
    place.experiment("E");
    let line = "run E --rounds 2 --minds 2 --samples 2 --active 3 --token-limit 77 --scheduling snapshot --concurrency 2 \
        --parse-mode strict --impersonation discard --no-stamp --seed 12 --mind mutator:p=0.2 --provider offline";
    place.alone(&words(line)).exits(0);
    let effective = effective(&place, "E");
    for (key, value) in [
        ("max_rounds", json!(2)),
        ("n_minds", json!(2)),
        ("k_samples", json!(2)),
        ("m_active_pool", json!(3)),
        ("token_limit", json!(77)),
        ("scheduling", json!("snapshot")),
        ("concurrency", json!(2)),
        ("parse_mode", json!("strict")),
        ("impersonation", json!("discard")),
        ("stamp_seeds", json!(false)),
        ("seed", json!(12)),
    ] {
        assert_eq!(effective[key], value, "{key}");
    }
    let journal = place.read(&journal::path("E"));
    let seeds = events(&place, "E")[0]["seeds"].to_string();
    assert!(!seeds.contains("~init"), "{seeds}");
    assert_eq!(journal.matches("\"type\":\"round_end\"").count(), 2);
}

#[test]
fn sequential_ignores_concurrency_and_says_so_once() {
    let place = Place::new();
    place.experiment("E");
    let run = words("run E --rounds 3 --concurrency 8 --provider offline");
    let ran = place.alone(&run).exits(0);
    let told = ran
        .stderr
        .lines()
        .filter(|line| line.contains("concurrency"));
    assert_eq!(told.count(), 1, "{}", ran.stderr);
}
