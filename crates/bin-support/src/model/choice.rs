use std::path::{Component, Path};

use llm_client::{Auth, Endpoint};
use secrecy::SecretString;

use super::flags::Protocol;
use super::{ModelFlags, ProviderName};
use crate::Error;

/// What a program asks when the flags do not say.
#[derive(Debug, Clone, Copy)]
pub struct ModelDefaults {
    /// Its name; a key in `<PROGRAM>_API_KEY` is used before the provider's own.
    pub program: &'static str,
    /// Who serves its model.
    pub provider: ProviderName,
    /// The model's id there. Another provider needs `--model`.
    pub model: &'static str,
}

/// What flags, environment and defaults come to.
#[derive(Debug)]
pub(crate) enum Choice {
    /// No model; the notice when nobody asked for that.
    Offline { notice: Option<String> },
    /// This model of this server.
    Ask(Target),
}

#[derive(Debug)]
pub(crate) struct Target {
    pub provider: ProviderName,
    pub protocol: Protocol,
    pub endpoint: Endpoint,
    pub model: String,
}

/// Decides by the rules in the documentation of [`crate::Model`]. `variable` looks up the environment.
pub(crate) fn choose(
    flags: &ModelFlags,
    defaults: &ModelDefaults,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Choice, Error> {
    if let (Some(record), Some(replay)) = (&flags.record, &flags.replay)
        && is_same(record, replay)
    {
        return Err(Error::SameCassette {
            path: replay.clone(),
        });
    }
    let provider = flags.provider.unwrap_or(defaults.provider);
    let Some(protocol) = provider.protocol() else {
        return offline(flags);
    };
    let asked = flags.provider.is_some() || flags.base_url.is_some() || flags.replay.is_some();
    let moved = (provider == ProviderName::Anthropic)
        .then(|| variable("ANTHROPIC_BASE_URL"))
        .flatten()
        .filter(|base| !base.is_empty());
    let base = (flags.base_url.as_deref())
        .or(moved.as_deref())
        .or(protocol.base_url());
    let loopback = match base {
        Some(base) => Endpoint::new(base, Auth::None)
            .map_err(Error::Model)?
            .is_loopback(),
        None => false,
    };
    let own = provider.key_variable();
    let variables = provider.key_variables(defaults.program);
    // An empty line of a copied `.env.example` is no key.
    let key_of = |name: &String| variable(name).filter(|key| !key.is_empty());
    if !asked && !variables.iter().any(|name| key_of(name).is_some()) {
        return Ok(Choice::Offline {
            notice: Some(notice(flags, &variables)),
        });
    }
    // A server on this machine is not sent a key that was given for another one.
    let own = own.filter(|_| !loopback);
    let mut sent = variables.iter().take(1 + usize::from(own.is_some()));
    let key = sent.find_map(key_of);
    if key.is_none() && own.is_some() && flags.replay.is_none() {
        return Err(Error::MissingKey {
            provider,
            variables,
        });
    }
    let auth = key.map_or(Auth::None, |key| Auth::Bearer(SecretString::from(key)));
    let base = base.ok_or(Error::NoBaseUrl { provider })?;
    Ok(Choice::Ask(Target {
        provider,
        protocol,
        endpoint: Endpoint::new(base, auth).map_err(Error::Model)?,
        model: model(flags, defaults, provider)?,
    }))
}

/// Offline because the user, or the program, wants it: what needs a server cannot be meant.
fn offline(flags: &ModelFlags) -> Result<Choice, Error> {
    let flag = [
        ("--base-url", flags.base_url.is_some()),
        ("--record", flags.record.is_some()),
        ("--replay", flags.replay.is_some()),
    ];
    match flag.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Error::OfflineWith { flag }),
        None => Ok(Choice::Offline { notice: None }),
    }
}

fn model(
    flags: &ModelFlags,
    defaults: &ModelDefaults,
    provider: ProviderName,
) -> Result<String, Error> {
    match &flags.model {
        Some(model) => Ok(model.clone()),
        // An id means nothing at another provider.
        None if provider == defaults.provider => Ok(defaults.model.to_owned()),
        None => Err(Error::NoModel { provider }),
    }
}

fn notice(flags: &ModelFlags, variables: &[String]) -> String {
    let recorded = flags.record.is_some();
    format!(
        "no model is asked, results are offline{}: set {} or give --provider",
        if recorded {
            " and nothing is recorded"
        } else {
            ""
        },
        variables.join(" or "),
    )
}

/// The same file as far as the names tell.
fn is_same(a: &Path, b: &Path) -> bool {
    let named = |path: &Path| -> Vec<_> {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_owned())
            .collect()
    };
    named(a) == named(b)
}

#[cfg(test)]
mod tests {
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
            variables
                .iter()
                .find(|(given, _)| *given == name)
                .map(|(_, key)| (*key).to_owned())
        };
        match choose(&flags, &POPPER, lookup) {
            Ok(Choice::Offline { notice: None }) => "offline".to_owned(),
            Ok(Choice::Offline { notice: Some(line) }) => format!("notice: {line}"),
            Ok(Choice::Ask(target)) => {
                // The redactor knows the key without showing it.
                let sent = variables.iter().find(|(_, key)| {
                    !key.is_empty() && !target.endpoint.redactor().clean(key).contains(key)
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
        let notice = "notice: no model is asked, results are offline: set POPPER_API_KEY or ANTHROPIC_API_KEY or give --provider";
        assert_eq!(decide("", &[]), notice);
        assert_eq!(decide("--model m --max-usd 1", &[OPENAI_KEY]), notice);
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
    fn a_fallback_that_was_to_be_recorded_says_that_nothing_is() {
        assert!(decide("--record f", &[]).contains("offline and nothing is recorded"));
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
                format!("error: p: {flag} has no meaning with --provider offline")
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
                "error: p: openrouter needs a key: set POPPER_API_KEY or OPENROUTER_API_KEY"
            );
        }
        assert_eq!(
            decide("--base-url https://gateway.test", &[OPENAI_KEY]),
            "error: p: anthropic needs a key: set POPPER_API_KEY or ANTHROPIC_API_KEY"
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
            "error: p: ollama needs --model"
        );
        assert_eq!(
            decide("--provider generic --model m", &[]),
            "error: p: generic needs --base-url"
        );
    }

    #[test]
    fn an_address_or_a_key_that_cannot_be_used_is_an_error_that_shows_no_key() {
        assert!(
            decide("--base-url host/v1", &[])
                .starts_with("error: p: cannot ask a model: base URL: ")
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
        let error = "error: p: --record and --replay are the same file f.jsonl";
        assert_eq!(decide("--record f.jsonl --replay f.jsonl", &[]), error);
        assert_eq!(decide("--record ./f.jsonl --replay f.jsonl", &[]), error);
    }
}
