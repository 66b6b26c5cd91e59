//! What a person can set: models, budgets, the web.

use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use llm_client::Usd;
use serde::{Deserialize, Deserializer, Serialize, de};

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
    /// Hosts to which it may send more than GET.
    pub allow_hosts: Vec<String>,
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
            allow_hosts: Vec::new(),
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

/// A model and how it is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Its id at the provider.
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
    pub input: f64,
    /// Of replies.
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
    pub turn_usd: f64,
    /// Dollars of a day, UTC.
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
