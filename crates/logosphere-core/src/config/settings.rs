//! The settings of a run, and the form in which they are recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::keys::OFFLINE;
use super::minds::MindList;
use crate::format::{MessageCap, ParseMode, PromptRole, Rules, SystemPrompt, sha256_hex};

/// The settings of a run. The defaults are those of the requirement.
///
/// ```
/// let settings = logosphere_core::Settings::default().with(|settings| {
///     settings.n_minds = 5;
///     settings.stop.fixed_pool = true;
/// });
/// assert_eq!((settings.n_minds, settings.k_samples), (5, 3));
/// settings.validate()?;
/// # Ok::<(), logosphere_core::config::ConfigError>(())
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The version of this format: 1.
    pub schema_version: u32,
    /// The number of minds, 1 to 65535.
    pub n_minds: u32,
    /// The largest number of messages that a mind reads in a call.
    pub k_samples: usize,
    /// The number of newest messages that can be read, at least 1.
    pub m_active_pool: usize,
    /// The number of rounds.
    pub max_rounds: u32,
    /// The limit of an answer in tokens, at least 1.
    pub token_limit: u32,
    /// The number of messages of one answer that are sent, the first ones; 0 for all of them.
    ///
    /// `None` in journals without the setting, which have no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_messages: Option<u32>,
    /// The characters of the longest message that is sent, without its signature; 0 for any length. `None` as in
    /// `max_messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_message_chars: Option<u32>,
    /// The provider of the model, or `offline`.
    pub provider: String,
    /// The model's id at the provider.
    pub model: String,
    /// The server's address; `None` for the provider's default.
    pub api_base_url: Option<String>,
    /// The text that every prompt begins with.
    pub system_prompt: String,
    /// The signature below seed messages: `~`, then 1 to 31 characters.
    pub init_signature: String,
    /// The random seed that every random choice is derived from.
    pub seed: u64,
    /// The order in which minds read and write.
    pub scheduling: Scheduling,
    /// The rules by which answers are parsed.
    pub parse_mode: ParseMode,
    /// The treatment of answers that bear the signature of the seed messages.
    pub impersonation: ForgedSignaturePolicy,
    /// Whether the signature is appended to the seed messages.
    pub stamp_seeds: bool,
    /// Whether a run may begin without messages.
    pub allow_zero_seeds: bool,
    /// The messages that the pool keeps in memory.
    pub keep: RetentionSetting,
    /// The number of concurrent calls with [`Scheduling::Snapshot`], 1 to 1000.
    pub concurrency: usize,
    /// The effect of a call that failed after all its attempts.
    pub on_error: OnError,
    /// The time for one attempt of a call, in JSON whole seconds; `None` for the client's own limits.
    #[serde(default, with = "seconds", skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<Duration>,
    /// The time to the first byte of an answer, in JSON whole seconds; 0 for that of `call_timeout`, `None` for the
    /// client's own limit.
    #[serde(default, with = "seconds", skip_serializing_if = "Option::is_none")]
    pub first_byte_timeout: Option<Duration>,
    /// The number of attempts of a call after the first; `None` in journals without the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// The longest wait between two attempts, also if the server asks for it; in JSON whole seconds. `None` in journals
    /// without the setting.
    #[serde(default, with = "seconds", skip_serializing_if = "Option::is_none")]
    pub retry_wait: Option<Duration>,
    /// The rules that end the run before the last round.
    pub stop: StopRules,
    /// The caps of the run.
    pub caps: Caps,
    /// The options of a request besides prompt, model and token limit.
    pub options: Options,
    /// Whether the system prompt is sent as a system message.
    pub system_role: bool,
    /// The safety of written events.
    pub durability: Durability,
    /// The scripted mind that answers offline, such as `mutator:p=0.1`.
    pub mind: Option<String>,
    /// The minds by position if they differ, at most `n_minds`: position i is played by entry i modulo the length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minds: Option<MindList>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            schema_version: 1,
            n_minds: 3,
            k_samples: 3,
            m_active_pool: 15,
            max_rounds: 10,
            token_limit: 2000,
            max_messages: Some(256),
            max_message_chars: Some(0),
            provider: "openrouter".to_owned(),
            model: "anthropic/claude-3.5-sonnet".to_owned(),
            api_base_url: None,
            system_prompt: SystemPrompt::DEFAULT.to_owned(),
            init_signature: "~init".to_owned(),
            seed: 0,
            scheduling: Scheduling::default(),
            parse_mode: ParseMode::default(),
            impersonation: ForgedSignaturePolicy::default(),
            stamp_seeds: true,
            allow_zero_seeds: false,
            keep: RetentionSetting::default(),
            concurrency: 4,
            on_error: OnError::default(),
            call_timeout: None,
            first_byte_timeout: None,
            retries: Some(2),
            retry_wait: Some(Duration::from_mins(1)),
            stop: StopRules::default(),
            caps: Caps::default(),
            options: Options::default(),
            system_role: false,
            durability: Durability::default(),
            mind: None,
            minds: None,
        }
    }
}

impl Settings {
    /// Returns these settings after this change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Whether no model is called: the minds are scripted.
    pub fn is_offline(&self) -> bool {
        self.provider == OFFLINE
    }

    /// Returns the system prompt with its role.
    pub fn prompt(&self) -> SystemPrompt {
        let role = if self.system_role {
            PromptRole::System
        } else {
            PromptRole::User
        };
        SystemPrompt::new(&self.system_prompt, role)
    }

    /// Returns the cap on the messages of one answer, by the rules of a journal.
    pub(crate) fn message_cap(&self, rules: Rules) -> MessageCap {
        MessageCap::new(self.max_messages, self.max_message_chars, rules)
    }

    /// Returns the part of the settings that every request contains besides the prompt.
    pub fn model_settings(&self) -> ModelSettings {
        ModelSettings {
            model: self.model.clone(),
            token_limit: self.token_limit,
            options: self.options.clone(),
            entry: 0,
        }
    }

    /// Settings that a resumed run may change.
    pub const CHANGEABLE: &[&str] = &[
        "max_rounds",
        "stop",
        "caps",
        "concurrency",
        "durability",
        "api_base_url",
        "on_error",
        "call_timeout",
        "first_byte_timeout",
        "retries",
        "retry_wait",
    ];

    /// The largest number of minds.
    pub const MOST_MINDS: u32 = 65_535;

    /// Settings that a fork may change.
    pub const SETTABLE: &[&str] = &[
        "k_samples",
        "m_active_pool",
        "token_limit",
        "options",
        "system_prompt",
    ];

    /// Returns the settings after these changes, each `[old, new]`, of [`Settings::CHANGEABLE`] or a part of one such as
    /// `caps.max_usd`.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn with_changes(
        &self,
        changed: &BTreeMap<String, [serde_json::Value; 2]>,
    ) -> Result<Self, SettingsError> {
        let mut settings = self.clone();
        for (setting, [_, new]) in changed {
            let refused = || SettingsError {
                setting: setting.clone(),
                value: new.to_string(),
            };
            let root = setting.split('.').next().unwrap_or_default();
            if !Self::CHANGEABLE.contains(&root) {
                return Err(refused());
            }
            settings = settings.with_value(setting, new).ok_or_else(refused)?;
        }
        Ok(settings)
    }

    /// Returns the settings with another value of a setting such as `caps.max_usd`; `None` if there is no such setting, or
    /// if it cannot have this value.
    pub(crate) fn with_value(&self, setting: &str, value: &serde_json::Value) -> Option<Self> {
        let mut all = serde_json::to_value(self).ok()?;
        let (group, name) = match setting.split_once('.') {
            Some((group, name)) => (all.get_mut(group)?, name),
            None => (&mut all, setting),
        };
        // A setting that is not given may be missing.
        (group.as_object_mut()?).insert(name.to_owned(), value.clone());
        let changed: Self = serde_json::from_value(all).ok()?;
        let known = serde_json::to_value(&changed).ok()?;
        let pointer = format!("/{}", setting.replace('.', "/"));
        let found = known.pointer(&pointer).unwrap_or(&serde_json::Value::Null);
        (found == value).then_some(changed)
    }
}

/// The error of a setting that a resumed run cannot change to a value.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a run cannot change {setting} to {value}")]
pub struct SettingsError {
    /// The setting, such as `caps.max_usd`.
    pub setting: String,
    /// The value as JSON.
    pub value: String,
}

/// The part of the settings that every request of a mind contains besides the prompt.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// The model's id at its provider.
    pub model: String,
    /// The limit of an answer in tokens.
    pub token_limit: u32,
    /// The options.
    pub options: Options,
    /// The index in [`Settings::minds`], by which a run chooses the mind to call; 0 in a run with one kind. It is not sent.
    #[serde(skip)]
    pub entry: usize,
}

/// The order in which minds read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "minds answer one after another or at once"
)]
pub enum Scheduling {
    /// One mind after another. Each may read what those before it wrote in the same round.
    #[default]
    Sequential,
    /// All minds read the pool as it was when the round began.
    Snapshot,
}

/// The treatment of answers that bear the signature of the seed messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForgedSignaturePolicy {
    /// The messages are sent, and the answer gets a note.
    #[default]
    Keep,
    /// The messages are not sent.
    Discard,
}

/// The messages that the pool keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RetentionSetting {
    /// The pool keeps every message.
    #[default]
    All,
    /// The pool keeps the active pool only; the other messages are in the journal.
    Active,
}

/// The effect of a call that failed after all its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnError {
    /// The mind is silent in this round.
    #[default]
    Skip,
    /// The run is interrupted.
    Stop,
    /// The call is made again after a minute, then after twice as long each time, up to ten minutes, if time may help: a
    /// rate limit, an overloaded server, the network or a timeout. After other failures the mind is silent.
    Wait,
}

/// The rules that end the run before the last round. All are off by default.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRules {
    /// The number of consecutive rounds without a message after which the run ends; 0 for never.
    pub silence_rounds: Option<u32>,
    /// The share (0 to 1) of lost answers among the last 50 above which the run ends; 1 for never.
    pub loss_above: Option<f64>,
    /// Whether the run ends when all messages that can be read are equal.
    pub fixed_pool: bool,
}

/// The caps of a run.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Caps {
    /// The cap in US dollars.
    pub max_usd: Option<f64>,
    /// The cap in tokens of prompts and answers together.
    pub max_tokens: Option<u64>,
    /// The cap in wall-clock time of all processes together; in JSON whole seconds.
    #[serde(default, with = "seconds")]
    pub max_wall: Option<Duration>,
}

/// A duration as whole seconds.
mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde gives the field as it is")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| time.as_secs()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::deserialize(from)?.map(Duration::from_secs))
    }
}

/// The options of a request besides prompt, model and token limit. An option that is not set is not sent.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// The temperature, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The probability mass to sample from, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The random seed of the server, the same in every call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The reasoning effort in the provider's words (`low`, `high`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// The safety of written events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Durability {
    /// Each event is on the disk before anything depends on it.
    #[default]
    Fsync,
    /// Each event is with the operating system: it survives the end of the process, but not that of the machine.
    Flush,
}

/// The content of `config.effective.json`: the settings after all layers, and their sources.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The settings of the run.
    #[serde(flatten)]
    pub settings: Settings,
    /// SHA-256 of `config.json` as it was read or written; empty without a file.
    pub config_sha256: String,
    /// SHA-256 of the system prompt.
    pub system_prompt_sha256: String,
    /// SHA-256 of `init.md` as it was read; empty without a file.
    pub init_sha256: String,
    /// The program and its version.
    pub software: String,
}

impl Effective {
    /// Returns the record of settings that come from no files.
    pub fn new(settings: Settings, software: impl Into<String>) -> Self {
        Self {
            system_prompt_sha256: sha256_hex(&settings.system_prompt),
            settings,
            config_sha256: String::new(),
            init_sha256: String::new(),
            software: software.into(),
        }
    }
}
