use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CalibrationError;
use super::pair::judged;
use crate::ExperimentResult;
use crate::plan::Config;
use crate::prompts::{Nonce, PromptProfile, RoleInput, render};
use crate::rules::codec::LEXICAL_JUDGE_VERSION;
use crate::text::hash::canonical_sha256;

/// The version of the reader of judges' replies. It changes with every change of a score.
const PARSER_VERSION: u32 = 1;
/// The sets of prompts.
const PROFILES: [PromptProfile; 3] = [
    PromptProfile::Plain,
    PromptProfile::Bands,
    PromptProfile::Guarded,
];

/// Everything that decides the points of a judge of the meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeIdentity {
    /// The models, sorted.
    pub models: Vec<String>,
    /// The provider of the models.
    pub provider: String,
    /// The server; `None` if the results do not name it.
    pub host: Option<String>,
    /// The set of prompts.
    pub prompt_profile: PromptProfile,
    /// The SHA-256 of the judge's system prompt in hex.
    pub prompt_sha256: String,
    /// The temperature; `None` if none is sent.
    #[serde(default, with = "crate::judge::number::plain_option")]
    pub temperature: Option<f64>,
    /// The samples of each judge.
    pub samples: u32,
    /// The version of the reader of replies, or of the offline judge.
    pub parser_version: u32,
}

impl JudgeIdentity {
    /// The judge of a run with these settings.
    pub fn of_config(config: &Config) -> Self {
        let profile = config.semantic_profile();
        Self {
            models: sorted(&config.models.judges),
            provider: config.label.provider.clone(),
            host: Some(config.label.host.clone()),
            prompt_profile: profile,
            prompt_sha256: prompt_sha256(profile, config.judge_prompt.as_deref()),
            temperature: config.judge_temperature,
            samples: config.judge_samples,
            parser_version: if config.label.offline {
                LEXICAL_JUDGE_VERSION
            } else {
                PARSER_VERSION
            },
        }
    }

    /// The judge that scored `results`; `None` if no judge did. `config` tells the server.
    ///
    /// # Errors
    /// [`CalibrationError::SeveralJudges`].
    pub fn of_results(
        results: &[ExperimentResult],
        config: Option<&Config>,
    ) -> Result<Option<Self>, CalibrationError> {
        let mut judges = (results.iter())
            .filter(|result| judged(result).is_some())
            .map(|result| Self::of_result(result, config));
        let first = judges.next();
        if let Some(first) = &first {
            let keys = judges.map(|other| first.differences(&other));
            if let Some(keys) = keys.into_iter().find(|keys| !keys.is_empty()) {
                return Err(CalibrationError::SeveralJudges { keys });
            }
        }
        Ok(first)
    }

    fn of_result(result: &ExperimentResult, config: Option<&Config>) -> Self {
        let (metadata, details) = (&result.metadata, &result.details);
        let prompt = &metadata.prompt_sha256.semantic_judge;
        // The profile of the metadata is the encoder's; after a rescore the judge has another one.
        let mut profiles = PROFILES.into_iter();
        let profile = profiles.find(|profile| prompt_sha256(*profile, None) == *prompt);
        let samples = (details.semantic_judge.iter()).flat_map(|record| &record.samples);
        Self {
            models: sorted(&metadata.models.judges),
            provider: metadata.provider.to_string(),
            host: config.map(|config| config.label.host.clone()),
            prompt_profile: profile.unwrap_or(metadata.prompt_profile),
            prompt_sha256: prompt.clone(),
            temperature: metadata.judge_temperature,
            samples: samples.map(|one| one.sample).max().unwrap_or(1),
            parser_version: details.lexical_judge_version.unwrap_or(PARSER_VERSION),
        }
    }

    /// The SHA-256 of the judge as canonical JSON in hex.
    pub fn id(&self) -> String {
        canonical_sha256(self.value())
    }

    /// The keys in which two judges differ. A server that one of them does not name is not compared.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (one, other) = (self.value(), other.value());
        let keys = one.as_object().into_iter().flatten();
        let is_unknown = |key: &str| key == "host" && (one[key].is_null() || other[key].is_null());
        keys.filter(|(key, value)| other.get(key) != Some(value) && !is_unknown(key))
            .map(|(key, _)| key.clone())
            .collect()
    }

    #[expect(clippy::expect_used, reason = "strings, numbers and lists make JSON")]
    fn value(&self) -> Value {
        serde_json::to_value(self).expect("a judge as JSON")
    }
}

/// The hash of the judge's system prompt.
fn prompt_sha256(profile: PromptProfile, prompt: Option<&str>) -> String {
    let texts = RoleInput::Semantic {
        original: "",
        decoded: "",
        prompt,
    };
    render(profile, texts, Nonce::default()).sha256
}

fn sorted(models: &[String]) -> Vec<String> {
    let mut models = models.to_vec();
    models.sort();
    models
}
