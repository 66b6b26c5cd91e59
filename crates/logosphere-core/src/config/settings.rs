//! Every setting of a run, and what is recorded of it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::{ParseMode, PromptRole, SystemPrompt, sha256_hex};

/// Every setting of a run. The defaults are the requirement's.
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
    /// The version of this form: 1.
    pub schema_version: u32,
    /// Minds, 1 to 65535.
    pub n_minds: u32,
    /// Messages that each mind reads, at most.
    pub k_samples: usize,
    /// Messages that can be read: the newest so many. At least 1.
    pub m_active_pool: usize,
    /// Rounds.
    pub max_rounds: u32,
    /// The longest answer in tokens, at least 1.
    pub token_limit: u32,
    /// Who serves the model, or `offline`.
    pub provider: String,
    /// The model's id there.
    pub model: String,
    /// The server's address, if it is not the provider's own.
    pub api_base_url: Option<String>,
    /// What every prompt begins with.
    pub system_prompt: String,
    /// What seeds are signed with: `~`, then 1 to 31 characters.
    pub init_signature: String,
    /// Where every random choice comes from.
    pub seed: u64,
    /// In which order minds read and write.
    pub scheduling: Scheduling,
    /// How answers are read.
    pub parse_mode: ParseMode,
    /// What becomes of answers that are signed as the seeds are.
    pub impersonation: ForgedSignaturePolicy,
    /// Whether the signature is appended to the seeds.
    pub stamp_seeds: bool,
    /// Whether a run may begin without messages.
    pub allow_zero_seeds: bool,
    /// What the pool remembers.
    pub keep: RetentionSetting,
    /// Calls under way at the same time, with [`Scheduling::Snapshot`]; 1 to 1000.
    pub concurrency: usize,
    /// What a call that fails for good does to the run.
    pub on_error: OnError,
    /// When to stop before the last round.
    pub stop: StopRules,
    /// What the run may take.
    pub caps: Caps,
    /// What a request holds besides prompt, model and token limit.
    pub options: Options,
    /// Whether the system prompt is sent as the system's turn.
    pub system_role: bool,
    /// How hard events are written.
    pub durability: Durability,
    /// The program that plays the minds offline, such as `mutator:p=0.1`.
    pub mind: Option<String>,
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
            stop: StopRules::default(),
            caps: Caps::default(),
            options: Options::default(),
            system_role: false,
            durability: Durability::default(),
            mind: None,
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

    /// The system prompt and who says it.
    pub fn prompt(&self) -> SystemPrompt {
        let role = if self.system_role {
            PromptRole::System
        } else {
            PromptRole::User
        };
        SystemPrompt::new(&self.system_prompt, role)
    }

    /// What every request holds besides the prompt.
    pub fn model_settings(&self) -> ModelSettings {
        ModelSettings {
            model: self.model.clone(),
            token_limit: self.token_limit,
            options: self.options.clone(),
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
            let mut all = serde_json::to_value(&settings).map_err(|_| refused())?;
            let place = all.pointer_mut(&format!("/{}", setting.replace('.', "/")));
            *(place.filter(|_| Self::CHANGEABLE.contains(&root))).ok_or_else(refused)? =
                new.clone();
            settings = serde_json::from_value(all).map_err(|_| refused())?;
        }
        Ok(settings)
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

/// What every request of a run holds besides the prompt.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// The model's id at its provider.
    pub model: String,
    /// The longest answer in tokens.
    pub token_limit: u32,
    /// What else is set.
    pub options: Options,
}

/// In which order minds read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// One after another: each may read what those before it wrote in the same round.
    #[default]
    Sequential,
    /// All read the pool as it stood when the round began.
    Snapshot,
}

/// What becomes of answers that are signed as the seeds are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum ForgedSignaturePolicy {
    /// They are sent, and noted.
    #[default]
    Keep,
    /// They are not sent.
    Discard,
}

/// What the pool remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetentionSetting {
    /// Every message.
    #[default]
    All,
    /// Those that can be read; the others are in the journal.
    Active,
}

/// What a call that fails for good does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The mind is silent in this round.
    #[default]
    Skip,
    /// The run is interrupted.
    Stop,
}

/// When to stop before the last round. All rules are off unless set.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRules {
    /// Rounds in a row without a message; 0 for never.
    pub silence_rounds: Option<u32>,
    /// The share (0 to 1) of the last 50 answers above which too many were lost; 1 for never.
    pub loss_above: Option<f64>,
    /// All messages that can be read are equal.
    pub fixed_pool: bool,
}

/// What a run may take.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Caps {
    /// Dollars.
    pub max_usd: Option<f64>,
    /// Tokens of prompts and answers.
    pub max_tokens: Option<u64>,
    /// How long it may take, in all its processes together; in JSON whole seconds.
    #[serde(default, with = "seconds")]
    pub max_wall: Option<Duration>,
}

/// A time as whole seconds.
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

/// What a request holds besides prompt, model and token limit; what is unset is not sent.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// For the server's random choices; the same in every call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How hard the model tries before it answers, in the provider's own words (`low`, `high`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// How hard events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Each event is on the disk before anything depends on it.
    #[default]
    Fsync,
    /// Each event is with the operating system: safe against the end of the process, not against that of the machine.
    Flush,
}

/// `config.effective.json`: every setting after all layers, and what it was made by.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The settings.
    #[serde(flatten)]
    pub settings: Settings,
    /// SHA-256 of `config.json` as it was read or written.
    pub config_sha256: String,
    /// SHA-256 of the system prompt.
    pub system_prompt_sha256: String,
    /// SHA-256 of `init.md` as it was read.
    pub init_sha256: String,
    /// The program and its version.
    pub software: String,
}

impl Effective {
    /// Settings that come from no files.
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
