//! Defaults, below `config.json`, below flags; and what no setting may be.

use logosphere_core::Settings;
use logosphere_core::config::{
    Durability, ForgedSignaturePolicy, Layer, OnError, RetentionSetting, Scheduling, read_config,
};
use logosphere_core::format::ParseMode;
use serde_json::json;

fn read(text: &str) -> Layer {
    read_config(text.as_bytes()).unwrap()
}

/// The message for a file.
#[track_caller]
fn refused(text: &str) -> String {
    let settings = read_config(text.as_bytes()).and_then(|layer| layer.settings(0));
    settings.unwrap_err().to_string()
}

/// Every setting other than its default.
fn other() -> Settings {
    Settings::default().with(|settings| {
        settings.schema_version = 1;
        settings.n_minds = 65_535;
        settings.k_samples = 4;
        settings.m_active_pool = 20;
        settings.max_rounds = u32::MAX;
        settings.token_limit = 1;
        settings.provider = "offline".into();
        settings.model = "small".into();
        settings.api_base_url = None;
        settings.system_prompt = "Read.\n---\n".into();
        settings.init_signature = "~é".into();
        settings.seed = u64::MAX;
        settings.scheduling = Scheduling::Snapshot;
        settings.parse_mode = ParseMode::Strict;
        settings.impersonation = ForgedSignaturePolicy::Discard;
        settings.stamp_seeds = false;
        settings.allow_zero_seeds = true;
        settings.keep = RetentionSetting::Active;
        settings.concurrency = 1000;
        settings.on_error = OnError::Wait;
        settings.max_messages = Some(0);
        settings.max_message_chars = Some(u32::MAX);
        settings.call_timeout = Some(std::time::Duration::from_hours(1));
        settings.first_byte_timeout = Some(std::time::Duration::ZERO);
        settings.retries = Some(20);
        settings.retry_wait = Some(std::time::Duration::ZERO);
        settings.stop.silence_rounds = Some(1);
        settings.stop.loss_above = Some(1.0);
        settings.stop.fixed_pool = true;
        settings.caps.max_usd = Some(0.5);
        settings.caps.max_tokens = Some(0);
        settings.caps.max_wall = Some(std::time::Duration::from_hours(1));
        settings.options.temperature = Some(2.0);
        settings.options.top_p = Some(0.0);
        settings.options.seed = Some(7);
        settings.options.reasoning = Some("low".to_owned());
        settings.system_role = true;
        settings.durability = Durability::Flush;
        settings.mind = Some("copier:mu=0.05".to_owned());
    })
}

#[test]
fn what_nobody_says_is_the_default() {
    let expected = Settings::default().with(|settings| settings.seed = 7);
    assert_eq!(read("{}").settings(7).unwrap(), expected);
}

#[test]
fn a_file_goes_over_the_defaults_and_flags_go_over_the_file() {
    let file = read(r#"{"n_minds": 5, "k_samples": 0, "stop": {"silence_rounds": 2}, "seed": 42}"#);
    let flags = Layer::default().with(|layer| {
        layer.n_minds = Some(7);
        layer.silence_rounds = Some(9);
        layer.max_usd = Some(1.0);
    });
    let settings = flags.over(file).settings(1).unwrap();
    assert_eq!((settings.n_minds, settings.k_samples), (7, 0));
    assert_eq!((settings.m_active_pool, settings.seed), (15, 42));
    assert_eq!(settings.stop.silence_rounds, Some(9));
    assert_eq!(settings.caps.max_usd, Some(1.0));
}

#[test]
fn settings_that_are_written_are_read_again() {
    let served = other().with(|settings| {
        settings.provider = "generic".into();
        settings.api_base_url = Some("http://127.0.0.1:8080/v1".to_owned());
        settings.mind = None;
    });
    for settings in [other(), served, Settings::default()] {
        let text = serde_json::to_string_pretty(&settings).unwrap();
        assert_eq!(read(&text).settings(1).unwrap(), settings);
        assert_eq!(read(&text).differences(&settings), []);
        assert_eq!(read(&text), Layer::of(&settings));
    }
}

#[test]
fn a_rule_that_could_never_stop_a_run_is_refused_before_it_begins() {
    let layer = read(r#"{"stop": {"fixed_pool": true}, "m_active_pool": 1}"#);
    let error = layer.settings(1).unwrap_err().to_string();
    let words = "stop.fixed_pool: a single message is not a population, so it never stops a run with m_active_pool 1";
    assert!(error.starts_with(words), "{error}");
    let layer = read(r#"{"stop": {"fixed_pool": true}, "m_active_pool": 2}"#);
    let settings = layer.settings(1).unwrap();
    // The journal of a run that was made before stays good.
    settings
        .with(|settings| settings.m_active_pool = 1)
        .validate()
        .unwrap();
}

#[test]
fn the_names_of_the_requirement_are_read_at_the_top_and_in_their_groups() {
    let expected = Settings::default().with(|settings| {
        settings.n_minds = 4;
        settings.k_samples = 5;
        settings.m_active_pool = 6;
        settings.max_rounds = 7;
        settings.token_limit = 8;
        settings.model = "m".into();
        settings.api_base_url = Some("https://host/v1".to_owned());
        settings.system_prompt = "Read.".into();
        settings.init_signature = "~first".into();
    });
    let parameters = json!({
        "N_MINDS": 4, "K_SAMPLES": 5, "M_ACTIVE_POOL": 6, "MAX_ROUNDS": 7, "TOKEN_LIMIT": 8,
        "SYSTEM_PROMPT": "Read.", "INIT_SIGNATURE": "~first",
    });
    let api = json!({ "MODEL": "m", "API_BASE_URL": "https://host/v1" });
    let mut flat = parameters.clone();
    let names = flat.as_object_mut().unwrap();
    names.extend(api.as_object().unwrap().clone());
    let grouped =
        json!({ "timestamp": "2026-01-02T10:00:00", "parameters": parameters, "api": api });
    for file in [flat, grouped] {
        assert_eq!(read(&file.to_string()).settings(0).unwrap(), expected);
    }
}

#[test]
fn a_byte_order_mark_is_passed_over_and_null_is_not_set() {
    let layer = read("\u{feff}{\"seed\": null, \"caps\": {\"max_usd\": null}, \"mind\": null}");
    assert_eq!(layer, Layer::default());
}

#[test]
fn a_value_that_is_not_allowed_is_named_with_what_is() {
    for (file, message) in [
        (
            r#"{"n_minds": 0}"#,
            "n_minds: expected a whole number from 1 to 65535, found 0",
        ),
        (
            r#"{"n_minds": 65536}"#,
            "n_minds: expected a whole number from 1 to 65535, found 65536",
        ),
        (
            r#"{"N_MINDS": -1}"#,
            "N_MINDS: expected a whole number from 1 to 65535, found -1",
        ),
        (
            r#"{"parameters": {"K_SAMPLES": 2.5}}"#,
            "parameters.K_SAMPLES: expected a whole number from 0 to 18446744073709551615, found 2.5",
        ),
        (
            r#"{"m_active_pool": null}"#,
            "m_active_pool: expected a whole number from 1 to 18446744073709551615, found null",
        ),
        (
            r#"{"max_rounds": 4294967296}"#,
            "max_rounds: expected a whole number from 0 to 4294967295, found 4294967296",
        ),
        (
            r#"{"token_limit": "2000"}"#,
            "token_limit: expected a whole number from 1 to 4294967295, found a text",
        ),
        (
            r#"{"schema_version": 2}"#,
            "schema_version: expected 1, found 2",
        ),
        (
            r#"{"recorded": ["seed", "zzz"]}"#,
            "recorded: expected a list of some of seed, provider, model, mind",
        ),
        (
            r#"{"recorded": 5}"#,
            "recorded: expected a list of some of seed, provider, model, mind",
        ),
        (
            r#"{"seed": 18446744073709551616}"#,
            "seed: expected a whole number from 0 to 18446744073709551615, found 1.8446744073709552e+19",
        ),
        (
            r#"{"stamp_seeds": 1}"#,
            "stamp_seeds: expected true or false, found 1",
        ),
        (
            r#"{"scheduling": "parallel"}"#,
            r#"scheduling: expected one of sequential, snapshot, found "parallel""#,
        ),
        (
            r#"{"options": {"temperature": 2.1}}"#,
            "options.temperature: expected a number from 0 to 2, found 2.1",
        ),
        (
            r#"{"caps": {"max_usd": -0.01}}"#,
            "caps.max_usd: expected a number from 0 to 1000000000, found -0.01",
        ),
        (
            r#"{"stop": {"loss_above": 1.01}}"#,
            "stop.loss_above: expected a number from 0 to 1, found 1.01",
        ),
        (
            r#"{"stop": {"silence_rounds": [1]}}"#,
            "stop.silence_rounds: expected a whole number from 0 to 4294967295, found a list",
        ),
        (
            r#"{"stop": 5}"#,
            "stop: expected an object of settings, found a number",
        ),
        (
            r#"["n_minds"]"#,
            "expected an object of settings, found a list",
        ),
        (
            r#"{"model": " "}"#,
            "model: expected a text that is not blank, found a blank text",
        ),
        (
            r#"{"concurrency": {"max": 3}}"#,
            "concurrency: expected a whole number from 1 to 1000, found an object",
        ),
    ] {
        assert_eq!(refused(file), message, "{file}");
    }
}

#[test]
fn a_key_that_is_not_known_is_named_with_the_nearest() {
    for (file, name, nearest) in [
        ("{\"n_mind\": 3}", "n_mind", "n_minds"),
        ("{\"NMINDS\": 3}", "NMINDS", "n_minds"),
        ("{\"temperature\": 1}", "temperature", "options.temperature"),
        ("{\"caps\": {\"usd\": 1}}", "caps.usd", "caps.max_usd"),
        ("{\"caps\": {\"n_minds\": 1}}", "caps.n_minds", "n_minds"),
        ("{\"api\": {\"model\": \"m\"}}", "api.model", "model"),
        ("{\"caps.max_usd\": 1}", "caps.max_usd", "caps.max_usd"),
        ("{\"\": 1}", "\"\"", "seed"),
        ("{\"\\u001b[2J\": 1}", "\"\\u{1b}[2J\"", "seed"),
    ] {
        let message = format!("{name}: no such setting; the nearest is {nearest}");
        assert_eq!(refused(file), message, "{file}");
    }
}

#[test]
fn a_setting_is_given_once() {
    for (file, message) in [
        (
            r#"{"n_minds": 3, "k_samples": 1, "n_minds": 3}"#,
            "n_minds: given twice; keep one of them",
        ),
        (
            r#"{"n_minds": 3, "parameters": {"N_MINDS": 3}}"#,
            "parameters.N_MINDS: given twice, also as n_minds; keep one of them",
        ),
        (
            r#"{"stop": {}, "stop": {}}"#,
            "stop: given twice; keep one of them",
        ),
        (
            r#"{"stop": {"fixed_pool": true, "fixed_pool": false}}"#,
            "stop.fixed_pool: given twice; keep one of them",
        ),
    ] {
        assert_eq!(refused(file), message, "{file}");
    }
}

#[test]
fn what_is_no_json_is_named_with_its_place_and_key() {
    for (file, message) in [
        (
            "{\n  \"caps\": {\"max_usd\": NaN}\n}",
            "line 2, column 23, caps.max_usd: not JSON: expected value; expected a number from 0 to 1000000000",
        ),
        (
            "{\"parameters\": {\"N_MINDS\": 1e999}}",
            "line 1, column 32, parameters.N_MINDS: not JSON: number out of range; expected a whole number from 1 to 65535",
        ),
        ("", "line 1, column 0: not JSON: EOF while parsing a value"),
        ("{} {}", "line 1, column 4: not JSON: trailing characters"),
    ] {
        assert_eq!(refused(file), message, "{file}");
    }
    let bytes = [b"{\n\"model\": \"".as_slice(), b"\xff\"}"].concat();
    assert_eq!(
        read_config(&bytes).unwrap_err().to_string(),
        "line 2, byte 12: not UTF-8; save the file as UTF-8"
    );
    assert!(refused(&"{\"stop\":".repeat(100_000)).contains("not JSON"));
}

#[test]
fn a_secret_is_refused_and_not_shown() {
    for file in [
        r#"{"api_key": "sk-123"}"#,
        r#"{"api": {"API_KEY": "sk-123"}}"#,
        r#"{"OPENROUTER_API_KEY": "sk-123"}"#,
        r#"{"auth_token": "sk-123"}"#,
        r#"{"api_base_url": "https://me:sk-123@host/v1"}"#,
        r#"{"api_base_url": "https://host/v1?key=sk-123"}"#,
    ] {
        let message = refused(file);
        assert!(!message.contains("sk-123"), "{message}");
        let told = message.contains("hold no secret") || message.contains("without user name");
        assert!(told, "{message}");
    }
}

#[test]
fn signatures_and_addresses_have_a_form() {
    let longest = format!("~{}", "ä".repeat(31));
    for signature in ["~a", "~~", "~ a", &longest] {
        let file = json!({ "init_signature": signature }).to_string();
        assert_eq!(read(&file).init_signature.unwrap(), signature);
    }
    let too_long = format!("{longest}a");
    for signature in [
        "", "~", "init", " ~init", "~init ", "~a\nb", "~a\u{7}", &too_long,
    ] {
        let message = refused(&json!({ "init_signature": signature }).to_string());
        assert!(
            message.starts_with("init_signature: expected ~ and"),
            "{message}"
        );
    }
    for address in [
        "host/v1",
        "ftp://host",
        "http://",
        "https:///v1",
        "http://a b",
        "http://h#f",
    ] {
        let message = refused(&json!({ "api_base_url": address }).to_string());
        assert!(
            message.starts_with("api_base_url: expected http://"),
            "{message}"
        );
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    for (file, start) in [
        (r#"{"system_role": true, "k_samples": 0}"#, "system_role: "),
        (
            r#"{"system_prompt": "\n", "k_samples": 0}"#,
            "system_prompt: ",
        ),
        (
            r#"{"provider": "offline", "api_base_url": "http://gpu/v1"}"#,
            "api_base_url: offline no server is called",
        ),
        (
            r#"{"provider": "ollama", "mind": "silent"}"#,
            "mind: a program plays the minds only offline",
        ),
    ] {
        let message = refused(file);
        assert!(message.starts_with(start), "{message}");
    }
    let spoken = read(r#"{"system_role": true}"#).settings(0).unwrap();
    assert!(spoken.check_seeds(1).is_ok());
    assert!(spoken.check_seeds(0).is_err());
    assert!(Settings::default().check_seeds(0).is_ok());
}

#[test]
fn flags_are_held_to_the_same_ranges_as_a_file() {
    let flags = Layer::default().with(|layer| layer.loss_above = Some(f64::NAN));
    assert_eq!(
        flags.settings(0).unwrap_err().to_string(),
        "stop.loss_above: expected a number from 0 to 1, found null"
    );
}

#[test]
fn who_answers_is_the_upper_layer_s_choice() {
    let offline = || read(r#"{"provider": "offline", "mind": "silent", "model": "m"}"#);
    let served =
        || read(r#"{"provider": "generic", "api_base_url": "http://gpu/v1", "model": "m"}"#);
    let provider =
        |name: &str| Layer::default().with(|layer| layer.provider = Some(name.to_owned()));
    let mind = Layer::default().with(|layer| layer.mind = Some("copier".to_owned()));
    let asked = provider("ollama").over(offline()).settings(0).unwrap();
    assert_eq!((asked.provider.as_str(), asked.mind), ("ollama", None));
    // The model of an offline run is a program.
    assert_eq!(asked.model, Settings::default().model);
    let alone = provider("offline").over(served()).settings(0).unwrap();
    assert_eq!(
        (alone.provider.as_str(), alone.api_base_url),
        ("offline", None)
    );
    let played = mind.over(served()).settings(0).unwrap();
    assert_eq!(
        (played.provider.as_str(), played.api_base_url),
        ("offline", None)
    );
    // The key for one server is not sent to another's address.
    let moved = provider("openai").over(served()).settings(0).unwrap();
    assert_eq!((moved.api_base_url, moved.model.as_str()), (None, "m"));
    let same = provider("generic").over(served()).settings(0).unwrap();
    assert_eq!(same.api_base_url.as_deref(), Some("http://gpu/v1"));
}

#[test]
fn what_a_layer_would_change_in_a_run_is_listed_with_both_values() {
    let flags = Layer::default().with(|layer| {
        layer.n_minds = Some(3);
        layer.k_samples = Some(9);
        layer.max_usd = Some(2.0);
        layer.temperature = Some(1.0);
    });
    let differences = flags.differences(&Settings::default());
    let told: Vec<_> = (differences.into_iter())
        .map(|one| format!("{} {} {}", one.path, one.run, one.given))
        .collect();
    assert_eq!(
        told,
        [
            "k_samples 3 9",
            "caps.max_usd null 2.0",
            "options.temperature null 1.0"
        ]
    );
}
