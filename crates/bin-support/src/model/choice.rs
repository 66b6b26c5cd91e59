use std::path::{Component, Path};

use llm_client::{Auth, Endpoint};
use secrecy::ExposeSecret as _;

use super::flags::Protocol;
use super::{ModelFlags, ProviderName};
use crate::Error;
use crate::environment::{BASE_URL, Origin, Variable};

/// The provider and model that a program asks by default.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a program says every default")]
pub struct ModelDefaults {
    /// The program's name; a key in `<PROGRAM>_API_KEY` is preferred to the provider's own.
    pub program: &'static str,
    /// The provider of the default model.
    pub provider: ProviderName,
    /// The model's id at that provider. Another provider needs `--model`.
    pub model: &'static str,
}

/// The words of messages about a model that depend on the command.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a command says all that differs")]
pub struct ModelWords {
    /// The flag with the address of the server.
    pub base_url: &'static str,
    /// The remedy of a user without a key; `None` where only a key helps.
    pub without_key: Option<String>,
}

impl Default for ModelWords {
    fn default() -> Self {
        Self {
            base_url: "--base-url",
            without_key: Some("pass --provider offline".to_owned()),
        }
    }
}

/// The choice that follows from flags, environment and defaults.
#[derive(Debug)]
pub(crate) enum Choice {
    /// No model; a notice if the user did not ask for that.
    Offline { notice: Option<String> },
    /// A model of a server.
    Ask(Box<Target>),
}

#[derive(Debug)]
pub(crate) struct Target {
    pub provider: ProviderName,
    pub protocol: Protocol,
    pub endpoint: Endpoint,
    /// The server's host, with its port if the address names one.
    pub host: String,
    pub model: String,
    /// A notice for the user, printed before the first request.
    pub notice: Option<String>,
}

/// Chooses by the rules in the documentation of [`crate::model::ModelSource`]. `variable` looks up the environment.
pub(crate) fn choose(
    flags: &ModelFlags,
    defaults: &ModelDefaults,
    words: &ModelWords,
    variable: impl Fn(&str) -> Option<Variable>,
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
    let address = Address::of(flags, provider, &protocol, words, &variable)?;
    let own = provider.key_variable();
    let variables = provider.key_variables(defaults.program);
    if !asked && !variables.iter().any(|name| variable(name).is_some()) {
        if let Some(model) = flags.model.clone() {
            let remedy = words.without_key.clone();
            return Err(Error::ModelWithoutKey {
                model,
                variables,
                remedy,
            });
        }
        return Ok(Choice::Offline {
            notice: Some(offline_notice(flags, &variables)),
        });
    }
    // A server on this machine is not sent a key that was given for another one.
    let loopback = address.as_ref().is_some_and(Address::is_loopback);
    let own = own.filter(|_| !loopback);
    let mut sent = variables.iter().take(1 + usize::from(own.is_some()));
    let key = sent.find_map(|name| Some((name, variable(name)?)));
    if key.is_none() && own.is_some() && flags.replay.is_none() {
        return Err(Error::MissingKey {
            provider: provider.as_str(),
            variables,
            remedy: words.without_key.clone(),
        });
    }
    let address = address.ok_or(Error::NoBaseUrl {
        provider: provider.as_str(),
        flag: words.base_url,
    })?;
    let key = match key {
        Some((name, key)) if !address.may_have(&key.origin) => {
            // A replay sends nothing, and needs no key.
            if flags.replay.is_none() {
                return Err(address.refuses(name, key.origin, words));
            }
            None
        }
        key => key,
    };
    let notice = (flags.replay.is_none())
        .then(|| address.host_notice(key.as_ref().map(|(name, key)| (name.as_str(), &key.origin))));
    let auth = key.map_or(Auth::None, |(_, key)| Auth::Bearer(key.value));
    Ok(Choice::Ask(Box::new(Target {
        provider,
        protocol,
        host: address.host(),
        endpoint: Endpoint::new(address.server.base().as_str(), auth).map_err(Error::Model)?,
        model: model(flags, defaults, provider)?,
        notice: notice.flatten(),
    })))
}

/// The address that requests go to.
struct Address {
    server: Endpoint,
    origin: Origin,
    /// Whether it is the provider's default address.
    is_own: bool,
}

impl Address {
    /// The address of the flag, else of the variable, else the provider's default; `None` for a provider without one.
    fn of(
        flags: &ModelFlags,
        provider: ProviderName,
        protocol: &Protocol,
        words: &ModelWords,
        variable: impl Fn(&str) -> Option<Variable>,
    ) -> Result<Option<Self>, Error> {
        let keyless = |base: &str| Endpoint::new(base, Auth::None).map_err(Error::Model);
        let own = protocol.base_url().map(keyless).transpose()?;
        let moved = || variable(BASE_URL).filter(|_| provider == ProviderName::Anthropic);
        let (server, origin) = if let Some(base) = &flags.base_url {
            let file = flags.base_url_file.clone();
            (
                keyless(base)?,
                file.map_or(Origin::Flag(words.base_url), Origin::Recorded),
            )
        } else if let Some(moved) = moved() {
            (keyless(moved.value.expose_secret())?, moved.origin)
        } else if let Some(own) = &own {
            (own.clone(), Origin::Default)
        } else {
            return Ok(None);
        };
        let is_own = own.is_some_and(|own| own.base().origin() == server.base().origin());
        Ok(Some(Self {
            server,
            origin,
            is_own,
        }))
    }

    fn is_loopback(&self) -> bool {
        self.server.is_loopback()
    }

    /// Whether a key of this origin may be sent here: to the provider's own address, to the address of the flag, or to an
    /// address that has the same source as the key.
    fn may_have(&self, key: &Origin) -> bool {
        let ordered = match &self.origin {
            Origin::Flag(_) => true,
            same @ (Origin::Environment | Origin::Given(_)) => same == key,
            _ => false,
        };
        self.is_own || ordered
    }

    fn refuses(self, variable: &str, key: Origin, words: &ModelWords) -> Error {
        Error::KeyElsewhere {
            subject: match self.origin {
                Origin::Recorded(_) => "the address",
                _ => BASE_URL,
            },
            address: self.origin,
            variable: variable.to_owned(),
            key,
            flag: words.base_url,
        }
    }

    /// A line that names the host, if it is not the provider's own or if the key was in a `.env` that was found.
    fn host_notice(&self, key: Option<(&str, &Origin)>) -> Option<String> {
        let found = key.is_some_and(|(_, origin)| matches!(origin, Origin::Found(_)));
        (found || !self.is_own).then(|| {
            let key = key.map(|(name, origin)| format!(", key {name} from {origin}"));
            format!(
                "requests go to {} (from {}){}",
                self.host(),
                self.origin,
                key.unwrap_or_default()
            )
        })
    }

    /// The host, as `HOST` or `HOST:PORT` like in the address.
    fn host(&self) -> String {
        let base = self.server.base();
        let host = base.host_str().unwrap_or_default();
        match base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// The offline choice of the user or the program; flags that need a server are refused.
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
        None => Err(Error::NoModel {
            provider: provider.as_str(),
        }),
    }
}

fn offline_notice(flags: &ModelFlags, variables: &[String]) -> String {
    let recorded = flags.record.is_some();
    format!(
        "no API key found: running offline with built-in rules{}. Set {}, or pass --provider.",
        if recorded {
            ", and nothing is recorded"
        } else {
            ""
        },
        variables.join(" or "),
    )
}

/// Whether two paths name the same file, without access to the disk.
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
mod tests;
