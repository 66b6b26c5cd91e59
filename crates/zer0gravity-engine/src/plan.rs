//! The plan of a run: rules, cases and repetitions.

mod model_pair;
pub mod rubric;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

pub use self::model_pair::ModelPair;
use self::rubric::Rubric;
use crate::dataset::{Case, RoundTripSample};
use crate::model::{ModelLabel, ModelRequest, PromptInputs, Repeat};
use crate::prompts::{MAX_OUTPUT_TOKENS, Nonce, Prompt, PromptProfile, Role, RoleInput, render};
use crate::result::Models;
use crate::text::hash::{canonical_sha256, sha256_hex};
use crate::text::js_trim;
use crate::text::setters::setters;

/// Everything that decides the calls of a run; a run directory holds it, and is only resumed with the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plan {
    /// The rules, each with a unique id.
    pub encodings: Vec<EncodingSystem>,
    /// The cases.
    pub cases: Vec<PlannedCase>,
    /// The settings of the experiments.
    pub config: Config,
}

impl Plan {
    /// The plan to encode each of `cases` with each of `encodings`.
    pub fn new(encodings: Vec<EncodingSystem>, cases: Vec<PlannedCase>, config: Config) -> Self {
        Self {
            encodings,
            cases,
            config,
        }
    }
}

/// A set of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EncodingSystem {
    /// Unique in the plan: the file's name without its ending, or `default`.
    pub id: String,
    /// The file, as it was named; `None` for the default rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The rules.
    pub rules: String,
    /// The SHA-256 of the rules in hex.
    pub sha256: String,
}

impl EncodingSystem {
    /// The encoding `id` with these rules.
    pub fn new(id: impl Into<String>, path: Option<String>, rules: impl Into<String>) -> Self {
        let rules = rules.into();
        Self {
            id: id.into(),
            path,
            sha256: sha256_hex(rules.as_bytes()),
            rules,
        }
    }
}

/// A text with the level it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedCase {
    /// The level; `None` for a case of a dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// The text.
    #[serde(flatten)]
    pub case: Case,
}

impl PlannedCase {
    /// A case that is not of a level.
    pub fn new(case: Case) -> Self {
        Self { level: None, case }
    }

    setters! {
        level: Option<u32>,
    }
}

/// The settings of experiments, without those that do not change a result (concurrency, output).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[non_exhaustive]
pub struct Config {
    /// The provider and server that is asked.
    #[serde(rename = "port")]
    pub label: ModelLabel,
    /// The model of each role; encoder and decoder are those of the first of [`Self::model_pairs`].
    pub models: Models,
    /// The pairs of encoder and decoder models, in plan order; empty for one pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub model_pairs: Vec<ModelPair>,
    /// The set of prompts.
    pub prompt_profile: PromptProfile,
    /// The judges' set of prompts; `Some` if a rescore changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_profile: Option<PromptProfile>,
    /// The system prompt of the judge of the meaning; `None` for that of the set of prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_prompt: Option<String>,
    /// The user's scorers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
    /// The longest reply of encoder and decoder in tokens.
    pub max_output_tokens: u32,
    /// The temperature of encoder, decoder and executor, 0 to 2; `None` leaves it to the provider.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub temperature: Option<f64>,
    /// The temperature of the judges, 0 to 2; `None` leaves it to the provider.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub judge_temperature: Option<f64>,
    /// Encodings of each text, at least 1.
    pub trials: u32,
    /// Decodings of each encoding, at least 1.
    pub decodes: u32,
    /// Samples per judge and decoding, at least 1.
    pub judge_samples: u32,
    /// Lets an agent carry out the decoded text of cases that expect a result.
    pub execute: bool,
    /// The number of further tries, of two calls each, for a judge whose replies held no score: more than 0 in a rescore.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judge_retries: u32,
    /// Judges each set of rules once and not for every case.
    pub implementability_once: bool,
    /// Whether the saving of the encodings is computed.
    pub cost: Costs,
    /// Measures the message overhead with one more count.
    #[serde(rename = "measureWrapper")]
    pub measure_overhead: bool,
    /// The place of a removed setting in the hash of a plan.
    compat_judge_parse: Removed,
    /// The place of a removed setting in the hash of a plan.
    compat_token_fallback: Removed,
    /// Estimates token numbers where the provider does not count, without measuring prompts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_measure_tokens: bool,
    /// The seed of random choices.
    pub seed: u64,
}

/// A setting that earlier versions had: `false` in every plan, so that the hash of an older plan stays.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Removed;

impl Serialize for Removed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bool(false)
    }
}

impl<'de> Deserialize<'de> for Removed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let message = "the setting was removed: only the version that began the run continues it";
        if bool::deserialize(from)? {
            Err(D::Error::custom(message))
        } else {
            Ok(Self)
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether the saving of encodings is computed, and with which count of their rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Costs {
    /// The saving is not computed.
    #[default]
    None,
    /// The saving is computed by an estimate of the rules' tokens.
    Estimated,
    /// The saving is computed and the provider counts the rules: one more call for each.
    Counted,
}

impl Config {
    /// One encoding and decoding of each text, all by `model`.
    pub fn new(label: ModelLabel, model: impl Into<String>) -> Self {
        Self {
            label,
            models: Models::new(model),
            model_pairs: Vec::new(),
            prompt_profile: PromptProfile::Plain,
            judge_profile: None,
            judge_prompt: None,
            rubric: None,
            max_output_tokens: MAX_OUTPUT_TOKENS,
            temperature: None,
            judge_temperature: None,
            trials: 1,
            decodes: 1,
            judge_samples: 1,
            judge_retries: 0,
            execute: false,
            implementability_once: false,
            cost: Costs::None,
            measure_overhead: false,
            compat_judge_parse: Removed,
            compat_token_fallback: Removed,
            no_measure_tokens: false,
            seed: 0,
        }
    }

    /// The prompts of the judges.
    pub fn judge_profile(&self) -> PromptProfile {
        self.judge_profile.unwrap_or(self.prompt_profile)
    }

    /// The prompts of the judge of the meaning: [`PromptProfile::Own`] if it has a prompt of the user.
    pub fn semantic_profile(&self) -> PromptProfile {
        match self.judge_prompt {
            Some(_) => PromptProfile::Own,
            None => self.judge_profile(),
        }
    }
}

impl Item<'_> {
    /// Whether a judge is asked, and not all points came with the texts.
    pub(crate) fn asks_judges(&self) -> bool {
        let Some(sample) = self.given else {
            return true;
        };
        let has_rules = !js_trim(&self.encoding.rules).is_empty();
        let rubric = self.config.rubric.as_ref();
        sample.semantic_score.is_none()
            || has_rules && sample.implementability_score.is_none()
            || rubric.is_some_and(|rubric| rubric.judges().next().is_some())
    }

    /// The settings of a call to `model` in this experiment, before its repeat numbers are set.
    pub(crate) fn role_config(&self, model: &str) -> RoleConfig {
        RoleConfig {
            model: model.to_owned(),
            profile: self.config.prompt_profile,
            max_output_tokens: self.config.max_output_tokens,
            temperature: self.config.temperature,
            seed: self.config.seed,
            repeat: Repeat::default(),
            judge_retries: self.config.judge_retries,
        }
    }
}

/// One experiment of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Item<'a> {
    /// The settings of the experiments.
    pub config: &'a Config,
    /// The rules.
    pub encoding: &'a EncodingSystem,
    /// The model that encodes.
    pub encoder: &'a str,
    /// The model that decodes.
    pub decoder: &'a str,
    /// The text.
    pub case: &'a PlannedCase,
    /// The number of this encoding of the text, from 1.
    pub trial: u32,
    /// The number of this decoding of the encoded text, from 1.
    pub decode: u32,
    /// Encoding and decoded text, if they come from elsewhere and are only to be scored.
    pub given: Option<&'a RoundTripSample>,
}

impl Plan {
    /// The experiments in plan order: encodings, pairs of models, cases, trials, decodes.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let Config {
            trials, decodes, ..
        } = self.config;
        self.systems()
            .flat_map(move |(encoding, encoder, decoder)| {
                self.cases.iter().flat_map(move |case| {
                    (1..=trials).flat_map(move |trial| {
                        (1..=decodes).map(move |decode| Item {
                            config: &self.config,
                            encoding,
                            encoder,
                            decoder,
                            case,
                            trial,
                            decode,
                            given: None,
                        })
                    })
                })
            })
    }

    /// The ids of the encoding systems in results, in plan order.
    pub fn system_ids(&self) -> Vec<String> {
        let systems = self.systems();
        systems
            .map(|(encoding, encoder, decoder)| self.config.system_id(encoding, (encoder, decoder)))
            .collect()
    }

    /// The encodings with their encoder and decoder models, in plan order.
    pub(crate) fn systems(&self) -> impl Iterator<Item = (&EncodingSystem, &str, &str)> {
        let encodings = self.encodings.iter();
        encodings.flat_map(|encoding| {
            let pairs = self.config.pairs();
            pairs.map(move |(encoder, decoder)| (encoding, encoder, decoder))
        })
    }

    /// The SHA-256 of the plan as canonical JSON, in hex.
    pub fn sha256(&self) -> String {
        canonical_sha256(self.value())
    }

    /// The differences from another plan, as paths such as `config.trials`.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut paths = Vec::new();
        differences(&self.value(), &other.value(), "", &mut paths);
        paths
    }

    #[expect(
        clippy::expect_used,
        reason = "strings, numbers and booleans make JSON"
    )]
    fn value(&self) -> Value {
        serde_json::to_value(self).expect("a plan as JSON")
    }
}

fn differences(a: &Value, b: &Value, path: &str, found: &mut Vec<String>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                let (a, b) = (
                    a.get(name).unwrap_or(&Value::Null),
                    b.get(name).unwrap_or(&Value::Null),
                );
                differences(a, b, &below(name), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, &below(&index.to_string()), found);
            }
        }
        _ if a != b => found.push(path.to_owned()),
        _ => {}
    }
}

/// The settings of a call to a role.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RoleConfig {
    /// The model's id.
    pub model: String,
    /// The set of prompts.
    pub profile: PromptProfile,
    /// The longest reply of encoder and decoder in tokens.
    pub max_output_tokens: u32,
    /// The temperature, 0 to 2; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// The seed of random delimiters.
    pub seed: u64,
    /// The numbers that distinguish equal requests.
    pub repeat: Repeat,
    /// The number of further tries for a judge whose replies held no score.
    pub judge_retries: u32,
}

impl RoleConfig {
    /// `model` with the plain prompts.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            profile: PromptProfile::Plain,
            max_output_tokens: MAX_OUTPUT_TOKENS,
            temperature: None,
            seed: 0,
            repeat: Repeat::default(),
            judge_retries: 0,
        }
    }

    /// The request of a call with these settings.
    pub(crate) fn request(&self, input: RoleInput<'_>) -> ModelRequest {
        let role = input.role();
        let inputs = prompt_inputs(input);
        let coordinates = coordinates(role, self, &inputs);
        let nonce = Nonce::drawn(self.seed, coordinates.as_bytes());
        let prompt = render(self.profile, input, nonce);
        let max_tokens = match role {
            Role::Encoder | Role::Decoder => self.max_output_tokens,
            _ => prompt.max_tokens,
        };
        ModelRequest {
            role,
            model: self.model.clone(),
            prompt: Prompt {
                max_tokens,
                ..prompt
            },
            inputs,
            temperature: self.temperature,
            repeat: self.repeat.clone(),
        }
    }
}

/// The purpose of the call, in any order of calls. The texts are part of it: the author of a text knows the seed, and a
/// number that an author could know before writing would let the text end its own part.
fn coordinates(role: Role, cfg: &RoleConfig, inputs: &PromptInputs) -> String {
    json!([role, cfg.repeat, inputs.rules, inputs.texts]).to_string()
}

fn prompt_inputs(input: RoleInput<'_>) -> PromptInputs {
    let (rules, texts): (&str, &[&str]) = match &input {
        RoleInput::Encode { rules, text } => (rules, &[text]),
        RoleInput::Decode { rules, encoded } => (rules, &[encoded]),
        RoleInput::Semantic {
            original, decoded, ..
        } => ("", &[original, decoded]),
        RoleInput::Implementability { rules } => (rules, &[]),
        RoleInput::Execute { decoded } => ("", &[decoded]),
        RoleInput::Own(prompt) => ("", prompt.texts),
    };
    PromptInputs {
        rules: rules.to_owned(),
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z18_the_hash_of_a_plan_is_known() {
        let label = ModelLabel {
            provider: "p".into(),
            host: String::new(),
            offline: false,
        };
        let plan = Plan {
            encodings: vec![EncodingSystem::new("a", None, "x")],
            cases: Vec::new(),
            config: Config::new(label, "m"),
        };
        // Of the text that Python's json.dumps(plan, sort_keys=True, separators=(",", ":")) gives.
        let known = "f6123d805d6c75fa0601e3bd9fabb6f4a3020f38a491d8ca4f5a00e54b56e27e";
        assert_eq!(plan.sha256(), known);
    }

    #[test]
    fn plans_say_where_they_differ() {
        let label = ModelLabel {
            provider: "p".into(),
            host: String::new(),
            offline: false,
        };
        let one = Plan {
            encodings: vec![EncodingSystem::new("a", None, "x")],
            cases: Vec::new(),
            config: Config::new(label, "m"),
        };
        let mut other = one.clone();
        assert_eq!(
            (one.differences(&other), one.sha256() == other.sha256()),
            (Vec::new(), true)
        );
        other.config.trials = 2;
        other.encodings[0] = EncodingSystem::new("a", None, "y");
        assert_eq!(
            one.differences(&other),
            ["config.trials", "encodings.0.rules", "encodings.0.sha256"]
        );
        assert_ne!(one.sha256(), other.sha256());
    }
}
