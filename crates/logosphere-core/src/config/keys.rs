//! The keys of `config.json`.

use std::time::Duration;

use serde_json::Value;
use strsim::levenshtein;

use super::error::ConfigError;
use super::minds::MindList;
use super::rule::{ADDRESS, NAME, Rule, SIGNATURE, TEXT};
use super::settings::{
    Durability, ForgedSignaturePolicy, OnError, RetentionSetting, Scheduling, Settings,
};
use crate::format::ParseMode;
use Rule::{Flag, List, Number, OneOf, Whole};

/// The word for the provider of runs without a model.
pub(super) const OFFLINE: &str = "offline";

/// The groups of the requirement's `config.json`, which contain its upper-case names.
const GROUPS: [&str; 2] = ["parameters", "api"];

const U32: u64 = u32::MAX as u64;
const USIZE: u64 = usize::MAX as u64;
const PROVIDERS: Rule = OneOf(&[
    "anthropic",
    "openrouter",
    "openai",
    "llamacpp",
    "ollama",
    "vllm",
    "generic",
    OFFLINE,
]);

/// A key of `config.json`.
pub(super) struct Key {
    /// The name, after that of its group and a point if it is in one.
    pub(super) path: &'static str,
    /// The names that the requirement has for it.
    old: &'static [&'static str],
    /// The rule for its values.
    pub(super) rule: Rule,
    /// Returns the value of a layer.
    pub(super) get: fn(&Layer) -> Option<Value>,
    /// Sets the value of a layer, if it has the right type.
    set: fn(&mut Layer, Value) -> bool,
}

impl Key {
    /// Returns the group; `None` if it is in none; and the name there.
    fn split(&self) -> (Option<&'static str>, &'static str) {
        match self.path.split_once('.') {
            Some((group, name)) => (Some(group), name),
            None => (None, self.path),
        }
    }

    /// Copies the value of a file, which has it at `path`, to a layer. `null` leaves the setting out if a run may lack
    /// it or chooses it.
    pub(super) fn read(
        &self,
        layer: &mut Layer,
        path: &str,
        value: Value,
    ) -> Result<(), ConfigError> {
        let may_be_unset =
            || self.path == "seed" || (self.get)(&Layer::of(&Settings::default())).is_none();
        if value.is_null() && may_be_unset() {
            return Ok(());
        }
        let error = self.error(path, &value);
        if self.rule.allows(&value) && (self.set)(layer, value) {
            return Ok(());
        }
        Err(error)
    }

    /// Returns the error of a value that is not allowed.
    pub(super) fn error(&self, path: &str, value: &Value) -> ConfigError {
        let found = self.rule.found(value);
        ConfigError::new(path, format!("expected {}, found {found}", self.rule))
    }
}

/// Defines [`Layer`], its application to settings and [`KEYS`] from one list.
///
/// A row has the field and its type in the layer, conversions from and to JSON if it needs any, the field of
/// [`Settings`], the rule and the requirement's name.
macro_rules! settings {
    ($($field:ident: $type:ident $(($to:path, $from:path))? => $place:ident $(. $inner:ident)?, $rule:expr $(, $old:literal)?;)*) => {
        /// The settings of one source, such as a file or the flags. Settings that are left out are taken from the next
        /// source.
        #[derive(Debug, Clone, PartialEq, Default)]
        #[non_exhaustive]
        pub struct Layer {
            $(
                #[doc = concat!("`", stringify!($place) $(, ".", stringify!($inner))?, "` of [`Settings`].")]
                pub $field: Option<$type>,
            )*
        }

        impl Layer {
            /// Returns a layer that gives all settings of a run.
            pub fn of(settings: &Settings) -> Self {
                Self { $($field: settings.$place$(.$inner)?.clone().into(),)* }
            }

            /// Returns the settings of this layer, and those of `lower` that it leaves out.
            pub(super) fn or(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)* }
            }

            pub(super) fn apply(self, settings: &mut Settings) {
                $(if let Some(value) = self.$field { settings.$place$(.$inner)? = value.into(); })*
            }
        }

        pub(super) const KEYS: &[Key] = &[$(Key {
            path: concat!(stringify!($place) $(, ".", stringify!($inner))?),
            old: &[$($old)?],
            rule: $rule,
            // What is no number in JSON, such as NaN, is null, which no rule allows.
            get: |layer| {
                let value = layer.$field.as_ref()?;
                $(let value = $to(value);)?
                Some(serde_json::to_value(value).unwrap_or_default())
            },
            set: |layer, value| {
                let value = serde_json::from_value(value).ok();
                $(let value = value.map($from);)?
                layer.$field = value;
                layer.$field.is_some()
            },
        },)*];
    };
}

settings! {
    schema_version: u32 => schema_version, Whole(1, 1);
    n_minds: u32 => n_minds, Whole(1, Settings::MOST_MINDS as u64), "N_MINDS";
    k_samples: usize => k_samples, Whole(0, USIZE), "K_SAMPLES";
    m_active_pool: usize => m_active_pool, Whole(1, USIZE), "M_ACTIVE_POOL";
    max_rounds: u32 => max_rounds, Whole(0, U32), "MAX_ROUNDS";
    token_limit: u32 => token_limit, Whole(1, U32), "TOKEN_LIMIT";
    max_messages: u32 => max_messages, Whole(0, 1_000_000);
    max_message_chars: u32 => max_message_chars, Whole(0, U32);
    provider: String => provider, PROVIDERS;
    model: String => model, NAME, "MODEL";
    api_base_url: String => api_base_url, ADDRESS, "API_BASE_URL";
    system_prompt: String => system_prompt, TEXT, "SYSTEM_PROMPT";
    init_signature: String => init_signature, SIGNATURE, "INIT_SIGNATURE";
    seed: u64 => seed, Whole(0, u64::MAX);
    scheduling: Scheduling => scheduling, OneOf(&["sequential", "snapshot"]);
    parse_mode: ParseMode => parse_mode, OneOf(&["lenient", "strict"]);
    impersonation: ForgedSignaturePolicy => impersonation, OneOf(&["keep", "discard"]);
    stamp_seeds: bool => stamp_seeds, Flag;
    allow_zero_seeds: bool => allow_zero_seeds, Flag;
    keep: RetentionSetting => keep, OneOf(&["all", "active"]);
    concurrency: usize => concurrency, Whole(1, 1000);
    on_error: OnError => on_error, OneOf(&["skip", "stop", "wait"]);
    call_timeout: Duration (Duration::as_secs, Duration::from_secs) => call_timeout, Whole(1, 3600);
    first_byte_timeout: Duration (Duration::as_secs, Duration::from_secs) => first_byte_timeout, Whole(0, 3600);
    retries: u32 => retries, Whole(0, 20);
    retry_wait: Duration (Duration::as_secs, Duration::from_secs) => retry_wait, Whole(0, 3600);
    silence_rounds: u32 => stop.silence_rounds, Whole(0, U32);
    loss_above: f64 => stop.loss_above, Number(1.0);
    fixed_pool: bool => stop.fixed_pool, Flag;
    max_usd: f64 => caps.max_usd, Number(1e9);
    max_tokens: u64 => caps.max_tokens, Whole(0, u64::MAX);
    max_wall: Duration (Duration::as_secs, Duration::from_secs) => caps.max_wall, Whole(0, u64::MAX);
    temperature: f64 => options.temperature, Number(2.0);
    top_p: f64 => options.top_p, Number(1.0);
    option_seed: u64 => options.seed, Whole(0, u64::MAX);
    reasoning: String => options.reasoning, NAME;
    system_role: bool => system_role, Flag;
    durability: Durability => durability, OneOf(&["fsync", "flush"]);
    mind: String => mind, NAME;
    minds: MindList => minds, List;
}

/// Returns the key with this name in `group`, or outside of all groups.
pub(super) fn find(name: &str, group: Option<&str>) -> Option<&'static Key> {
    let is_old = |key: &&Key| key.old.contains(&name);
    let mut keys = KEYS.iter();
    match group {
        Some(group) if GROUPS.contains(&group) => keys.find(is_old),
        Some(_) => keys.find(|key| key.split() == (group, name)),
        None => keys.find(|key| key.split() == (None, name) || is_old(key)),
    }
}

/// Returns the name of a setting with its group, which may be given by an older name.
pub(crate) fn key_path(group: Option<&str>, name: &str) -> Option<&'static str> {
    find(name, group).map(|key| key.path)
}

/// Returns whether a group has this name.
pub(super) fn is_group(name: &str) -> bool {
    GROUPS.contains(&name) || KEYS.iter().any(|key| key.split().0 == Some(name))
}

/// Returns the error of a name that no key in `group` has. If the name is like that of a secret, the error says where
/// API keys belong.
///
/// The nearest key is one with exactly this name, then one of the group, then the one that needs the fewest edits; of
/// equals the first.
pub(super) fn unknown(path: &str, name: &str, group: Option<&str>) -> ConfigError {
    let name = name.to_lowercase();
    let secrets = [
        "key",
        "secret",
        "password",
        "passwd",
        "authorization",
        "bearer",
    ];
    if secrets.iter().any(|secret| name.contains(secret)) || name.ends_with("token") {
        return ConfigError::new(
            path,
            "settings go into results and hold no secret; set LOGOSPHERE_API_KEY in the environment or in .env, and \
             take the key out of use if this file was shared",
        );
    }
    let distance = |key: &&Key| {
        let (inside, own) = key.split();
        let changed = levenshtein(&name, own).min(levenshtein(&name, key.path));
        let elsewhere = changed > 0 && group.is_some() && group != inside;
        (elsewhere, changed)
    };
    let nearest = KEYS.iter().min_by_key(distance).map_or("", |key| key.path);
    ConfigError::new(path, format!("no such setting; the nearest is {nearest}"))
}
