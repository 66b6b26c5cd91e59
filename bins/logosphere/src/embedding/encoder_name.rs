//! The encoder that `--embed` names.

use std::fmt;
use std::str::FromStr;

use bin_support::escape;
use bin_support::model::ProviderName;
use clap::ValueEnum as _;

/// The name of an encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderName {
    /// The encoder of this program.
    Chargram,
    /// A model of a server.
    Server {
        provider: ProviderName,
        model: String,
    },
}

impl FromStr for EncoderName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "chargram, or PROVIDER:MODEL such as openai:text-embedding-3-small";
        if text == "chargram" {
            return Ok(Self::Chargram);
        }
        let (provider, model) = text.split_once(':').unwrap_or((text, ""));
        let serving = ProviderName::value_variants().iter().copied();
        let serving: Vec<_> = serving.filter(|name| has_embeddings(*name)).collect();
        let names: Vec<_> = serving.iter().map(|name| name.as_str()).collect();
        let names = names.join(", ");
        match ProviderName::from_str(provider, false) {
            Ok(other) if !has_embeddings(other) => Err(format!(
                "{other} has no embeddings; give chargram, or a model of {names}"
            )),
            Ok(provider) if !model.trim().is_empty() => {
                let model = model.to_owned();
                Ok(Self::Server { provider, model })
            }
            Err(_) if text.contains(':') => Err(format!(
                "unknown provider {}; expected one of {names}",
                escape(provider)
            )),
            _ => Err(format!("expected {FORM}")),
        }
    }
}

/// Returns whether a provider has models that return vectors.
fn has_embeddings(provider: ProviderName) -> bool {
    !matches!(provider, ProviderName::Anthropic | ProviderName::Offline)
}

impl fmt::Display for EncoderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chargram => f.write_str("chargram"),
            Self::Server { provider, model } => write!(f, "{provider}:{model}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_program_or_a_provider_with_a_model() {
        let parse = EncoderName::from_str;
        assert_eq!(parse("chargram"), Ok(EncoderName::Chargram));
        for (name, provider, model) in [
            (
                "openai:text-embedding-3-small",
                ProviderName::Openai,
                "text-embedding-3-small",
            ),
            ("llamacpp:any", ProviderName::Llamacpp, "any"),
            (
                "ollama:nomic-embed-text:v1.5",
                ProviderName::Ollama,
                "nomic-embed-text:v1.5",
            ),
            ("generic:a:b:", ProviderName::Generic, "a:b:"),
        ] {
            let model = model.to_owned();
            let expected = EncoderName::Server { provider, model };
            assert_eq!(parse(name), Ok(expected.clone()));
            assert_eq!(expected.to_string(), name);
        }
        for (wrong, words) in [
            ("anthropic:m", "anthropic has no embeddings; give chargram"),
            ("offline:m", "offline has no embeddings"),
            ("anthropic", "anthropic has no embeddings"),
            ("openai", "expected chargram, or PROVIDER:MODEL"),
            ("openai:", "expected chargram, or PROVIDER:MODEL"),
            ("openai: ", "expected chargram, or PROVIDER:MODEL"),
            ("", "expected chargram, or PROVIDER:MODEL"),
            (
                ":m",
                "unknown provider ; expected one of openrouter, openai",
            ),
            ("gpt:m", "unknown provider gpt"),
            ("Chargram", "expected chargram"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.starts_with(words), "{wrong}: {error}");
        }
    }
}
