//! What a person can set: models, budgets, the web.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use llm_client::{ModelTable, Usd};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;

use crate::WebPolicy;

/// How a kernel is opened.
#[derive(Debug, Clone)]
pub struct KernelConfig {
    /// Where conversation, shells, state and the meter are kept; none: in memory.
    pub data: Option<PathBuf>,
    /// Leaves that folder as it is: what is written stays in memory.
    pub glance: bool,
    /// What the person set.
    pub settings: Settings,
    /// What the face is.
    pub face: Face,
    /// Asks the model for a new face even where a good one is kept.
    pub fresh: bool,
    /// Folders that the model may use.
    pub grants: Vec<Grant>,
    /// What it may do on the web beyond reading public pages. The search server of the settings is used if this names none.
    pub web: WebPolicy,
    /// A cap in dollars for the life of this kernel.
    pub max_usd: Option<Usd>,
    /// The person's time zone.
    pub zone: TimeZone,
    /// An export of the earlier generation, as JSON, that an empty store takes over.
    pub migrate: Option<String>,
}

impl Default for KernelConfig {
    fn default() -> Self {
        Self {
            data: None,
            glance: false,
            settings: Settings::default(),
            face: Face::Page,
            fresh: false,
            grants: Vec::new(),
            web: WebPolicy::default(),
            max_usd: None,
            zone: TimeZone::UTC,
            migrate: None,
        }
    }
}

/// What the person sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// A page in a browser: the model is asked for a shell.
    Page,
    /// A terminal: it is asked for a greeting.
    Terminal,
}

/// A folder that the model may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The folder.
    pub dir: PathBuf,
    /// It may write there.
    pub write: bool,
    /// It may delete there, into a trash folder.
    pub delete: bool,
}

/// `hermitcrab.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The models, in the order in which they are asked.
    #[serde(rename = "model")]
    pub models: Vec<ModelSpec>,
    /// The model for small work.
    pub fast: ModelSpec,
    /// Asks the next model when one refuses.
    pub fallback_on_refusal: bool,
    /// What may be spent.
    pub budgets: Budgets,
    /// The web.
    pub web: WebSettings,
}

/// Why a text is no `hermitcrab.toml`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct SettingsError {
    /// The line, from 1, if it is one line's fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl Settings {
    /// Reads a `hermitcrab.toml`. What it does not say is as by default.
    ///
    /// # Errors
    /// It is no TOML, has a key that there is not, or a value that makes no sense.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| SettingsError {
            line: error
                .span()
                .and_then(|span| text.get(..span.start))
                .map(|before| before.matches('\n').count() + 1),
            reason: error.message().to_owned(),
        })
    }
}

impl Settings {
    /// What is known of models, with the prices of these settings at `provider`.
    pub fn model_table(&self, provider: &str) -> ModelTable {
        let specs = self.models.iter().chain([&self.fast]);
        let mut rows = BTreeMap::new();
        let mut read_on = Date::default();
        for (spec, price) in specs.filter_map(|spec| Some((spec, spec.price?))) {
            read_on = read_on.max(price.date);
            let price = json!({"in": price.input, "out": price.output});
            rows.insert(
                &spec.id,
                json!({"provider": provider, "id": spec.id, "price": price}),
            );
        }
        let rows: Vec<_> = rows.into_values().collect();
        let table = json!({"schema_version": 1, "read_on": read_on, "models": rows});
        let embedded = ModelTable::embedded();
        // Ids and prices were checked when the settings were read.
        match ModelTable::parse(&table.to_string()) {
            Ok(own) => embedded.overridden_by(&own),
            Err(_) => embedded,
        }
    }
}

/// An amount of dollars.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if amount.is_finite() && amount >= 0.0 {
        return Ok(amount);
    }
    Err(de::Error::custom(format!(
        "an amount of dollars is 0 or more, not {amount}"
    )))
}

/// A model's id.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(id);
    }
    Err(de::Error::custom(format!(
        "a model's id has visible ASCII characters and no spaces, not {id:?}"
    )))
}

/// A model and how it is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Its id at the provider.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// Whether it thinks.
    #[serde(default)]
    pub thinking: ThinkingMode,
    /// How hard it tries, in the provider's words.
    #[serde(default)]
    pub effort: Option<String>,
    /// The longest reply in tokens.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The provider's version of its protocol.
    #[serde(default)]
    pub api_version: Option<String>,
    /// What it costs, where the table of models does not know.
    #[serde(default)]
    pub price: Option<DatedPrice>,
}

/// Whether a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkingMode {
    /// It always does; nothing is sent but the effort.
    Always,
    /// As much as it finds right.
    Adaptive,
    /// At most so many tokens.
    Budget(u32),
    /// It does not, or the server's default holds.
    #[default]
    Off,
}

/// Dollars for a million tokens, and since when that holds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatedPrice {
    /// Of prompts.
    #[serde(deserialize_with = "amount")]
    pub input: f64,
    /// Of replies.
    #[serde(deserialize_with = "amount")]
    pub output: f64,
    /// When it was looked up.
    pub date: Date,
}

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budgets {
    /// Requests of a turn.
    pub rounds: u32,
    /// Requests of a boot.
    pub boot_rounds: u32,
    /// Tokens of the prompts of a turn.
    pub input_tokens: u64,
    /// Tokens of the replies of a turn.
    pub output_tokens: u64,
    /// Dollars of a turn.
    #[serde(deserialize_with = "amount")]
    pub turn_usd: f64,
    /// Dollars of a day, UTC.
    #[serde(deserialize_with = "amount")]
    pub day_usd: f64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            rounds: 10,
            boot_rounds: 12,
            input_tokens: 60_000,
            output_tokens: 16_000,
            turn_usd: 0.5,
            day_usd: 5.0,
        }
    }
}

/// The web.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebSettings {
    /// The provider's own search tool, as its type, such as `web_search_20250305`.
    pub search_tool: Option<String>,
    /// The address of a `SearXNG` server, where the provider has no search tool.
    pub searxng: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let model = |id: &str, thinking| ModelSpec {
            id: id.to_owned(),
            thinking,
            effort: None,
            max_tokens: None,
            api_version: None,
            price: None,
        };
        Self {
            models: vec![
                model("claude-opus-5-5", ThinkingMode::Always),
                model("claude-opus-5", ThinkingMode::Adaptive),
                model("claude-sonnet-5-5", ThinkingMode::Adaptive),
            ],
            fast: model("claude-haiku-5-5", ThinkingMode::Off),
            fallback_on_refusal: false,
            budgets: Budgets::default(),
            web: WebSettings::default(),
        }
    }
}

/// `always`, `adaptive`, `budget:<n>` or `off`.
impl<'de> Deserialize<'de> for ThinkingMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "always" => Ok(Self::Always),
            "adaptive" => Ok(Self::Adaptive),
            "off" => Ok(Self::Off),
            other => other
                .strip_prefix("budget:")
                .and_then(|tokens| tokens.parse().ok())
                .map(Self::Budget)
                .ok_or_else(|| {
                    de::Error::custom(format!(
                        "thinking is always, adaptive, off or budget:<tokens>, not {other:?}"
                    ))
                }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_says_what_no_file_says() {
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }

    #[test]
    fn every_setting_can_be_set() {
        let text = r#"
            fallback_on_refusal = true
            [[model]]
            id = "claude-opus-5"
            thinking = "budget:2048"
            effort = "high"
            max_tokens = 9000
            api_version = "2023-06-01"
            price = { input = 5, output = 25.0, date = "2026-11-01" }
            [fast]
            id = "claude-haiku-5-5"
            [budgets]
            rounds = 4
            day_usd = 0
            [web]
            searxng = "http://localhost:8888"
        "#;
        let settings = Settings::parse(text).unwrap();
        let model = &settings.models[0];
        assert_eq!(model.thinking, ThinkingMode::Budget(2048));
        assert_eq!(model.price.map(|price| price.output), Some(25.0));
        assert_eq!((settings.models.len(), settings.budgets.rounds), (1, 4));
        assert_eq!(settings.budgets.boot_rounds, Budgets::default().boot_rounds);
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_line() {
        let cases = [
            ("[budgets]\nround = 3", 2, "unknown field `round`"),
            ("colour = 1", 1, "unknown field `colour`"),
            ("[[model]]\nid = \"two words\"", 2, "\"two words\""),
            ("[[model]]\nid = \"\"", 2, "\"\""),
            ("[[model]]\neffort = \"high\"", 1, "missing field `id`"),
            (
                "[[model]]\nid = \"m\"\nthinking = \"deep\"",
                3,
                "always, adaptive",
            ),
            ("\n\n[budgets]\nday_usd = -1", 4, "0 or more, not -1"),
            ("[budgets]\nturn_usd = nan", 2, "0 or more"),
            ("[budgets]\nrounds = -1", 2, "invalid value"),
            (
                "[fast]\nid = \"m\"\nprice = { input = -3, output = 1, date = \"2026-11-01\" }",
                3,
                "0 or more, not -3",
            ),
            ("[budgets\nrounds = 1", 1, "unclosed table"),
        ];
        for (text, line, words) in cases {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!(error.line, Some(line), "{text}: {error}");
            assert!(error.reason.contains(words), "{text}: {error}");
        }
    }
}
