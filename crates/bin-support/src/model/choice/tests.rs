use std::path::PathBuf;

use clap::Parser;

use super::*;

const POPPER: ModelDefaults = ModelDefaults {
    program: "popper",
    provider: ProviderName::Anthropic,
    model: "default-model",
};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    model: ModelFlags,
}

/// The choice in one line: `offline`, `notice: ...`, `error: ...` or `PROVIDER URL MODEL key|no key`.
fn decide(line: &str, variables: &[(&str, &str)]) -> String {
    let arguments = ["p"].into_iter().chain(line.split_whitespace());
    let flags = Cli::parse_from(arguments).model;
    let lookup = |name: &str| {
        let found = variables.iter().find(|(given, _)| *given == name);
        let (_, value) = found.filter(|(_, value)| !value.is_empty())?;
        Some(Variable {
            value: (*value).into(),
            origin: Origin::Environment,
        })
    };
    match choose(&flags, &POPPER, &ModelWords::default(), lookup) {
        Ok(Choice::Offline { notice: None }) => "offline".to_owned(),
        Ok(Choice::Offline { notice: Some(line) }) => format!("notice: {line}"),
        Ok(Choice::Ask(target)) => {
            // The redactor knows the key without showing it.
            let sent = variables.iter().find(|(_, key)| {
                !key.is_empty() && !target.endpoint.redactor().redact(key).contains(key)
            });
            let key = sent.map_or("no key", |(name, _)| name);
            format!(
                "{} {} {} {key}",
                target.provider,
                target.endpoint.base(),
                target.model
            )
        }
        Err(error) => format!("error: {}", crate::exit::error_line("p", &error)),
    }
}

const POPPER_KEY: (&str, &str) = ("POPPER_API_KEY", "key-of-popper-0001");
const ANTHROPIC_KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "key-of-anthropic-02");
const OPENAI_KEY: (&str, &str) = ("OPENAI_API_KEY", "key-of-openai-000003");

#[test]
fn without_flags_the_key_decides() {
    let notice = "notice: no API key found: running offline with built-in rules. Set POPPER_API_KEY or ANTHROPIC_API_KEY, or pass --provider.";
    assert_eq!(decide("", &[]), notice);
    assert_eq!(decide("--max-usd 1", &[OPENAI_KEY]), notice);
    assert_eq!(decide("", &[("ANTHROPIC_API_KEY", "")]), notice);
    let ask = "anthropic https://api.anthropic.com/ default-model";
    assert_eq!(
        decide("", &[ANTHROPIC_KEY]),
        format!("{ask} ANTHROPIC_API_KEY")
    );
    assert_eq!(
        decide("", &[ANTHROPIC_KEY, POPPER_KEY]),
        format!("{ask} POPPER_API_KEY")
    );
}

#[test]
fn l05_a_model_that_is_named_needs_a_key() {
    let error = "error: p: no API key for the model m: set POPPER_API_KEY or ANTHROPIC_API_KEY, or pass --provider offline";
    for key in [&[][..], &[OPENAI_KEY], &[("ANTHROPIC_API_KEY", "")]] {
        assert_eq!(decide("--model m --max-usd 1", key), error);
    }
    let ask = "anthropic https://api.anthropic.com/ m POPPER_API_KEY";
    assert_eq!(decide("--model m", &[POPPER_KEY]), ask);
}

#[test]
fn a_fallback_that_was_to_be_recorded_says_that_nothing_is() {
    assert!(decide("--record f", &[]).contains("built-in rules, and nothing is recorded. Set"));
}

#[test]
fn offline_by_choice_is_silent_and_takes_nothing_that_needs_a_server() {
    assert_eq!(
        decide("--provider offline --model m", &[ANTHROPIC_KEY]),
        "offline"
    );
    for (line, flag) in [
        ("--base-url http://localhost", "--base-url"),
        ("--record f", "--record"),
        ("--replay f", "--replay"),
    ] {
        assert_eq!(
            decide(&format!("--provider offline {line}"), &[]),
            format!(
                "error: p: {flag}: --provider offline asks no model; leave {flag} out, or give another --provider"
            )
        );
    }
}

#[test]
fn each_provider_has_its_address_and_its_key() {
    for (provider, shown) in [
        (
            "anthropic",
            "anthropic https://api.anthropic.com/ m ANTHROPIC_API_KEY",
        ),
        (
            "openai",
            "openai https://api.openai.com/v1 m OPENAI_API_KEY",
        ),
        ("llamacpp", "llamacpp http://127.0.0.1:8080/v1 m no key"),
        ("ollama", "ollama http://127.0.0.1:11434/v1 m no key"),
        ("vllm", "vllm http://127.0.0.1:8000/v1 m no key"),
    ] {
        let line = format!("--provider {provider} --model m");
        assert_eq!(decide(&line, &[ANTHROPIC_KEY, OPENAI_KEY]), shown);
    }
    assert_eq!(
        decide("--provider openrouter --model m", &[POPPER_KEY]),
        "openrouter https://openrouter.ai/api/v1 m POPPER_API_KEY"
    );
}

#[test]
fn a_remote_provider_that_was_asked_for_needs_a_key() {
    for line in [
        "--provider openrouter --model m",
        "--provider openrouter --model m --base-url https://gateway.test/v1 --record f",
    ] {
        assert_eq!(
            decide(line, &[ANTHROPIC_KEY]),
            "error: p: no API key for openrouter: set POPPER_API_KEY or OPENROUTER_API_KEY, or pass --provider offline"
        );
    }
    assert_eq!(
        decide("--base-url https://gateway.test", &[OPENAI_KEY]),
        "error: p: no API key for anthropic: set POPPER_API_KEY or ANTHROPIC_API_KEY, or pass --provider offline"
    );
}

#[test]
fn loopback_and_replay_need_no_key() {
    for base in [
        "http://127.0.0.1:9/",
        "http://localhost:9/",
        "http://[::1]:9/",
    ] {
        assert_eq!(
            decide(&format!("--base-url {base}"), &[ANTHROPIC_KEY]),
            format!("anthropic {base} default-model no key")
        );
    }
    assert_eq!(
        decide("--replay f", &[]),
        "anthropic https://api.anthropic.com/ default-model no key"
    );
    assert_eq!(
        decide("--base-url http://localhost:9/", &[POPPER_KEY]),
        "anthropic http://localhost:9/ default-model POPPER_API_KEY"
    );
}

#[test]
fn a_variable_moves_anthropic_where_no_flag_does() {
    let moved = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/");
    assert!(decide("", &[moved]).starts_with("notice: "));
    assert_eq!(
        decide("", &[moved, ANTHROPIC_KEY]),
        "anthropic http://127.0.0.1:9/ default-model no key"
    );
    assert_eq!(
        decide("--provider anthropic", &[moved]),
        "anthropic http://127.0.0.1:9/ default-model no key"
    );
    assert_eq!(
        decide("--base-url http://localhost:8/", &[moved]),
        "anthropic http://localhost:8/ default-model no key"
    );
    assert_eq!(
        decide("--provider ollama --model m", &[moved]),
        "ollama http://127.0.0.1:11434/v1 m no key"
    );
}

#[test]
fn a_server_of_ones_own_elsewhere_needs_no_key() {
    assert_eq!(
        decide(
            "--provider vllm --model m --base-url http://gpu.test/v1",
            &[ANTHROPIC_KEY]
        ),
        "vllm http://gpu.test/v1 m no key"
    );
}

#[test]
fn another_provider_needs_a_model_and_generic_an_address() {
    assert_eq!(
        decide("--provider ollama", &[]),
        "error: p: --provider ollama has no default model; give --model ID"
    );
    assert_eq!(
        decide("--provider generic --model m", &[]),
        "error: p: --provider generic has no default address; give --base-url URL"
    );
}

#[test]
fn an_address_or_a_key_that_cannot_be_used_is_an_error_that_shows_no_key() {
    assert!(
        decide("--base-url host/v1", &[]).starts_with("error: p: cannot ask a model: base URL: ")
    );
    let clear = decide("--base-url http://gateway.test", &[POPPER_KEY]);
    assert!(clear.contains("clear text"), "{clear}");
    let broken = decide("", &[("POPPER_API_KEY", "secret with spaces")]);
    assert!(
        broken.starts_with("error: p: cannot ask a model: key: "),
        "{broken}"
    );
    assert!(!broken.contains("secret"), "{broken}");
}

#[test]
fn a_cassette_is_not_recorded_over_while_it_is_replayed() {
    let error = "error: p: --record and --replay are the same file f.jsonl; choose another one for --record";
    assert_eq!(decide("--record f.jsonl --replay f.jsonl", &[]), error);
    assert_eq!(decide("--record ./f.jsonl --replay f.jsonl", &[]), error);
}

/// The sources of an address that is not the provider's own, and whether a key from the real environment, a file that was
/// found, the file of `--env-file`, the key file, or the user's own hand is sent there.
const SENT: [(&str, [bool; 5]); 4] = [
    ("flag", [true, true, true, true, true]),
    ("environment", [true, false, false, false, false]),
    ("given", [false, false, true, false, false]),
    ("recorded", [false, false, false, false, false]),
];

#[test]
fn a_key_goes_where_its_own_source_sends_it_and_nowhere_else() {
    let file = PathBuf::from("/f/given.env");
    let keys = [
        (Origin::Environment, "the environment"),
        (Origin::Found("/f".into()), ".env in /f"),
        (Origin::Given(file.clone()), "/f/given.env"),
        (Origin::KeyFile, "the key file"),
        (Origin::Entered, "this session"),
    ];
    let addresses = [
        ("https://api.anthropic.com/", "api.anthropic.com"),
        ("https://gateway.test/v1", "gateway.test"),
        ("http://127.0.0.1:9/", "127.0.0.1:9"),
        ("https://[::ffff:127.0.0.1]:9/", "[::ffff:7f00:1]:9"),
    ];
    let mut cells = 0;
    for (source, sent) in SENT {
        for (base, host) in addresses {
            for ((key, shown), sent) in keys.iter().zip(sent) {
                for name in ["POPPER_API_KEY", "ANTHROPIC_API_KEY"] {
                    let (is_own, program) = (host == "api.anthropic.com", name == "POPPER_API_KEY");
                    let mut flags = ModelFlags::default();
                    let moved = match source {
                        "environment" => Some((Origin::Environment, "the environment")),
                        "given" => Some((Origin::Given(file.clone()), "/f/given.env")),
                        _ => None,
                    };
                    let from = match (source, &moved) {
                        (_, Some((_, shown))) => *shown,
                        ("flag", None) => "--base-url",
                        _ => "/r/run.json",
                    };
                    if moved.is_none() {
                        flags.base_url = Some(base.to_owned());
                    }
                    flags.base_url_file = (source == "recorded").then(|| "/r/run.json".into());
                    let lookup = |asked: &str| {
                        if asked == name {
                            Some(Variable {
                                value: "key-000001".into(),
                                origin: key.clone(),
                            })
                        } else if asked == BASE_URL {
                            let (origin, _) = moved.clone()?;
                            Some(Variable {
                                value: base.into(),
                                origin,
                            })
                        } else {
                            None
                        }
                    };
                    let cell = format!("{source} {base} {shown} {name}");
                    let key_line =
                        format!("requests go to {host} (from {from}), key {name} from {shown}");
                    let expected = if is_own {
                        let found = matches!(key, Origin::Found(_));
                        Ok((true, found.then_some(key_line)))
                    } else if !program && host != "gateway.test" {
                        // The provider's own key never goes to this machine.
                        Ok((false, Some(format!("requests go to {host} (from {from})"))))
                    } else if sent {
                        Ok((true, Some(key_line)))
                    } else {
                        let subject = if source == "recorded" {
                            "the address"
                        } else {
                            BASE_URL
                        };
                        Err(format!(
                            "{subject} is from {from} and {name} from {shown}: the key is not sent there; \
                             put both into one file or give --base-url"
                        ))
                    };
                    let found = match choose(&flags, &POPPER, &ModelWords::default(), lookup) {
                        Ok(Choice::Ask(target)) => {
                            let cleaned = target.endpoint.redactor().redact("key-000001");
                            assert_eq!(target.host, host, "{cell}");
                            Ok((cleaned != "key-000001", target.notice))
                        }
                        Ok(Choice::Offline { .. }) => panic!("offline: {cell}"),
                        Err(error) => Err(error.to_string()),
                    };
                    assert_eq!(found, expected, "{cell}");
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 160);
}

#[test]
fn at_the_providers_own_address_a_line_names_a_key_that_was_found() {
    for (origin, line) in [
        (Origin::Environment, None),
        (Origin::KeyFile, None),
        (
            Origin::Found("/f".into()),
            Some(
                "requests go to api.anthropic.com (from the default), key POPPER_API_KEY from .env in /f",
            ),
        ),
    ] {
        let lookup = |name: &str| {
            let value = || Variable {
                value: "key-000001".into(),
                origin: origin.clone(),
            };
            (name == "POPPER_API_KEY").then(value)
        };
        let Ok(Choice::Ask(target)) = choose(
            &ModelFlags::default(),
            &POPPER,
            &ModelWords::default(),
            lookup,
        ) else {
            panic!("not asked");
        };
        assert_eq!(target.notice.as_deref(), line);
    }
}

#[test]
fn a_replay_sends_nothing_and_needs_no_order_about_keys() {
    let moved = ("ANTHROPIC_BASE_URL", "https://gateway.test/");
    let flags = ModelFlags {
        replay: Some("f".into()),
        base_url: Some(moved.1.to_owned()),
        base_url_file: Some("run.json".into()),
        ..ModelFlags::default()
    };
    let lookup = |name: &str| {
        let origin = Origin::Environment;
        (name == POPPER_KEY.0).then(|| Variable {
            value: POPPER_KEY.1.into(),
            origin,
        })
    };
    let Ok(Choice::Ask(target)) = choose(&flags, &POPPER, &ModelWords::default(), lookup) else {
        panic!("not asked");
    };
    assert_eq!(target.notice, None);
    assert_eq!(
        target.endpoint.redactor().redact(POPPER_KEY.1),
        POPPER_KEY.1
    );
}

#[test]
fn an_address_of_no_server_is_refused() {
    for (base, host) in [
        ("https://0.0.0.0:9", "0.0.0.0"),
        ("http://[::]:9/v1", "[::]"),
    ] {
        assert_eq!(
            decide(&format!("--base-url {base}"), &[POPPER_KEY]),
            format!(
                "error: p: cannot ask a model: base URL: {host} is not the address of a server"
            )
        );
    }
}
