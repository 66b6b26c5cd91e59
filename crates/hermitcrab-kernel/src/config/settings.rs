//! The settings of a person: models, budgets, the web.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use llm_client::{AnthropicVersion, ModelTable, Redactor, Usd};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;
use url::Url;

/// The fewest tokens that a model can be given to think.
const LEAST_THOUGHT: u32 = 1_024;

/// The configuration with which a kernel is opened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelConfig {
    /// The folder of conversation, shells, state and usage; `None`: in memory.
    pub data: Option<PathBuf>,
    /// Writes nothing to that folder: changes stay in memory.
    pub read_only: bool,
    /// The settings of the person.
    pub settings: Settings,
    /// The kind of face.
    pub face: Face,
    /// Asks the model for a new face even where a good one is kept.
    pub fresh: bool,
    /// Folders that the model may use.
    pub grants: Vec<Grant>,
    /// The permissions on the web beyond public pages. The search server of the settings is used if this names none.
    pub web: WebPolicy,
    /// A cap in dollars for the life of this kernel.
    pub max_usd: Option<Usd>,
    /// Knows the key in use, so that it gets into no file, no block and no result of a tool.
    pub redactor: Redactor,
    /// The person's time zone.
    pub zone: TimeZone,
    /// The size in bytes from which older turns go to the next block of history [default: 2 MiB].
    pub history_bytes: usize,
    /// Lines for the report of the start, about what was done before it.
    pub notices: Vec<String>,
}

impl Default for KernelConfig {
    fn default() -> Self {
        Self {
            data: None,
            read_only: false,
            settings: Settings::default(),
            face: Face::Page,
            fresh: false,
            grants: Vec::new(),
            web: WebPolicy::default(),
            max_usd: None,
            redactor: Redactor::default(),
            zone: TimeZone::UTC,
            history_bytes: 2 << 20,
            notices: Vec::new(),
        }
    }
}

/// The permissions on the web beyond public pages. The default grants nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WebPolicy {
    /// Hosts to which more than GET may be sent: `host`, or `host:port`, which opens that port of the host as well.
    pub allow_hosts: Vec<String>,
    /// Addresses that may be reached though they are special or their port is unusual.
    pub granted: Vec<SocketAddr>,
    /// The addresses on which this program listens; refused even if granted.
    pub own: Vec<SocketAddr>,
    /// The address of a `SearXNG` server. The person sets it, so it is not checked.
    pub searxng: Option<String>,
}

/// The kind of face that the person sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Face {
    /// A page in a browser: the model is asked for a shell.
    #[default]
    Page,
    /// A terminal: it is asked for a greeting.
    Terminal,
}

/// A folder that the model may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the caller decides each permission"
)]
pub struct Grant {
    /// The folder.
    pub dir: PathBuf,
    /// The model may write there.
    pub write: bool,
    /// The model may delete there, into a trash folder.
    pub delete: bool,
}

/// The content of `hermitcrab.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Settings {
    /// The models, in the order in which they are asked.
    #[serde(rename = "model", deserialize_with = "chain")]
    pub models: Vec<ModelSpec>,
    /// The model for small work.
    pub fast: ModelSpec,
    /// Asks the next model when one refuses.
    pub fallback_on_refusal: bool,
    /// The limits of spending.
    pub budgets: Budgets,
    /// The web.
    pub web: WebSettings,
}

impl Settings {
    /// The model table, with the prices of these settings at `provider`.
    pub fn model_table(&self, provider: &str) -> ModelTable {
        let specs = self.models.iter().chain([&self.fast]);
        let mut rows = BTreeMap::new();
        let mut read_on = Date::default();
        for (spec, price) in specs.filter_map(|spec| Some((spec, spec.price?))) {
            read_on = read_on.max(price.date);
            // The table has amounts as texts, down to a nano-dollar.
            let text = |dollars: f64| format!("{dollars:.9}");
            let price = json!({"in": text(price.input), "out": text(price.output)});
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

/// A model and how it is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelSpec {
    /// The id of the model at the provider.
    #[serde(deserialize_with = "model_id")]
    pub id: String,
    /// Whether it thinks.
    #[serde(default)]
    pub thinking: ThinkingMode,
    /// The effort, in the provider's words.
    #[serde(default)]
    pub effort: Option<String>,
    /// The longest reply in tokens.
    #[serde(default, deserialize_with = "some_above_zero")]
    pub max_tokens: Option<u32>,
    /// The version of Anthropic's protocol, where it is not the newest one.
    #[serde(default, deserialize_with = "api_version")]
    pub api_version: Option<AnthropicVersion>,
    /// The price, where the model table has none.
    #[serde(default)]
    pub price: Option<DatedPrice>,
}

impl ModelSpec {
    /// The model with this id, asked without thinking and with the server's own limits.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            thinking: ThinkingMode::default(),
            effort: None,
            max_tokens: None,
            api_version: None,
            price: None,
        }
    }
}

/// Whether a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ThinkingMode {
    /// The model always thinks; only the effort is sent.
    Always,
    /// The model decides how much it thinks.
    Adaptive,
    /// The thinking budget in tokens.
    Budget(u32),
    /// The model does not think, or the server's default applies.
    #[default]
    Off,
}

/// A price in US dollars per million tokens, with its date.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DatedPrice {
    /// US dollars per million prompt tokens.
    #[serde(deserialize_with = "dollars")]
    pub input: f64,
    /// US dollars per million reply tokens.
    #[serde(deserialize_with = "dollars")]
    pub output: f64,
    /// The day on which the price was looked up.
    pub date: Date,
}

/// The limits of spending.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Budgets {
    /// Requests of a turn.
    #[serde(deserialize_with = "above_zero")]
    pub rounds: u32,
    /// Requests of a boot.
    #[serde(deserialize_with = "above_zero")]
    pub boot_rounds: u32,
    /// Tokens of the prompts of a turn.
    #[serde(deserialize_with = "above_zero")]
    pub input_tokens: u64,
    /// Tokens of the replies of a turn.
    #[serde(deserialize_with = "above_zero")]
    pub output_tokens: u64,
    /// Dollars of a turn.
    #[serde(deserialize_with = "some_dollars")]
    pub turn_usd: f64,
    /// Dollars of a day, UTC.
    #[serde(deserialize_with = "some_dollars")]
    pub day_usd: f64,
    /// Requests in an hour that faces make while no person is at them; with 0 they make none.
    pub face_calls_hour: u32,
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
            face_calls_hour: 60,
        }
    }
}

/// The web.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WebSettings {
    /// The provider's own search tool, as its type, such as `web_search_20250305`.
    pub search_tool: Option<String>,
    /// The address of a `SearXNG` server, where the provider has no search tool.
    #[serde(deserialize_with = "web_address")]
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

/// An error in a settings file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
#[non_exhaustive]
pub struct SettingsError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The error message.
    pub message: String,
}

impl Settings {
    /// A settings file in which every setting is explained and has its default.
    pub const DEFAULT_FILE: &str = include_str!("hermitcrab.toml");

    /// Reads `hermitcrab.toml`; what it does not say has its default.
    ///
    /// # Errors
    /// No TOML, an unknown key, or a value that its setting cannot have.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let before = text.get(..at).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            SettingsError {
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                message: error.message().replace('\n', " "),
            }
        })
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
                .filter(|tokens| *tokens >= LEAST_THOUGHT)
                .map(Self::Budget)
                .ok_or_else(|| {
                    de::Error::custom(format!(
                        "thinking is always, adaptive, off or budget:<{LEAST_THOUGHT} or more>, not {other:?}"
                    ))
                }),
        }
    }
}

fn chain<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ModelSpec>, D::Error> {
    let models = Vec::<ModelSpec>::deserialize(deserializer)?;
    if models.is_empty() {
        return Err(de::Error::custom("there is no model: name at least one"));
    }
    for (at, model) in models.iter().enumerate() {
        if models[..at].iter().any(|earlier| earlier.id == model.id) {
            return Err(de::Error::custom(format!("{:?} is named twice", model.id)));
        }
    }
    Ok(models)
}

fn model_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    let fits = !id.is_empty() && id.len() <= 200 && id.chars().all(|c| c.is_ascii_graphic());
    if fits {
        return Ok(id);
    }
    Err(de::Error::custom(format!(
        "{id:?} cannot be the id of a model"
    )))
}

fn api_version<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<AnthropicVersion>, D::Error> {
    let version = String::deserialize(deserializer)?;
    version.parse().map(Some).map_err(de::Error::custom)
}

fn web_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let address = String::deserialize(deserializer)?;
    let fits = Url::parse(&address).is_ok_and(|url| ["http", "https"].contains(&url.scheme()));
    if fits {
        return Ok(Some(address));
    }
    Err(de::Error::custom(format!(
        "{address:?} is not an address that begins with http:// or https://"
    )))
}

fn above_zero<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    let number = T::deserialize(deserializer)?;
    if number == T::default() {
        return Err(de::Error::custom(
            "it is 0, so that nothing could be asked: give at least 1",
        ));
    }
    Ok(number)
}

fn some_above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    above_zero(deserializer).map(Some)
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let usd = f64::deserialize(deserializer)?;
    // No price or budget is that high; what is not a number is in no range.
    if (0.0..=1e6).contains(&usd) {
        return Ok(usd);
    }
    Err(de::Error::custom(format!(
        "{usd} is not an amount of dollars"
    )))
}

fn some_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let usd = dollars(deserializer)?;
    if usd > 0.0 {
        return Ok(usd);
    }
    Err(de::Error::custom(
        "it is 0, so that nothing could be asked: give an amount above it",
    ))
}
