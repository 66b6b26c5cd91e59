//! Every key of a `config.json`.

use serde_json::Value;
use strsim::levenshtein;

use super::rule::Rule;
use super::{ConfigError, Layer};

/// The provider that is none.
pub(super) const OFFLINE: &str = "offline";

/// A key.
pub(super) struct Key {
    /// Its name, behind that of its group and a point if it is in one.
    pub(super) path: &'static str,
    /// The name that the requirement has for it.
    pub(super) old: Option<&'static str>,
    /// What it may be.
    pub(super) rule: Rule,
    /// Whether null says that it is not set.
    pub(super) null: bool,
    /// The value that a layer gives.
    pub(super) get: fn(&Layer) -> Option<Value>,
    /// Puts a value into a layer, if it has the right type.
    set: fn(&mut Layer, Value) -> bool,
}

impl Key {
    pub(super) fn check(&self, path: &str, value: &Value) -> Result<(), ConfigError> {
        if self.rule.allows(value) {
            return Ok(());
        }
        Err(ConfigError::Value {
            path: path.to_owned(),
            allowed: self.rule.to_string(),
            found: self.rule.found(value),
        })
    }

    /// Takes over a value of a file that has it at `path`.
    pub(super) fn read(
        &self,
        layer: &mut Layer,
        path: &str,
        value: Value,
    ) -> Result<(), ConfigError> {
        if self.null && value.is_null() {
            return Ok(());
        }
        self.check(path, &value)?;
        let found = self.rule.found(&value);
        if (self.set)(layer, value) {
            return Ok(());
        }
        Err(ConfigError::Value {
            path: path.to_owned(),
            allowed: self.rule.to_string(),
            found,
        })
    }
}

/// One key of a list: name, field of [`Layer`], rule; `or null`; and the requirement's name.
macro_rules! key {
    ($path:literal, $field:ident, $rule:expr $(, $null:ident)? $(; $old:literal)?) => {
        Key {
            path: $path,
            old: key!(@old $($old)?),
            rule: $rule,
            null: key!(@null $($null)?),
            get: |layer| {
                let value = layer.$field.as_ref()?;
                // What is no number in JSON, such as NaN, is null, which no rule allows.
                Some(serde_json::to_value(value).unwrap_or_default())
            },
            set: |layer, value| {
                layer.$field = serde_json::from_value(value).ok();
                layer.$field.is_some()
            },
        }
    };
    (@old) => { None };
    (@old $old:literal) => { Some($old) };
    (@null) => { false };
    (@null or_null) => { true };
}

const fn whole(min: u64, max: u64) -> Rule {
    Rule::Whole { min, max }
}

const fn number(max: f64) -> Rule {
    Rule::Number { min: 0.0, max }
}

/// What fits into memory is not known here.
const ANY: u64 = usize::MAX as u64;
const U32: u64 = u32::MAX as u64;
const PROVIDERS: Rule = Rule::OneOf(&[
    "anthropic",
    "openrouter",
    "openai",
    "llamacpp",
    "ollama",
    "vllm",
    "generic",
    OFFLINE,
]);

pub(super) const KEYS: &[Key] = &[
    key!("schema_version", schema_version, whole(1, 1)),
    key!("n_minds", n_minds, whole(1, 65_535); "N_MINDS"),
    key!("k_samples", k_samples, whole(0, ANY); "K_SAMPLES"),
    key!("m_active_pool", m_active_pool, whole(1, ANY); "M_ACTIVE_POOL"),
    key!("max_rounds", max_rounds, whole(0, U32); "MAX_ROUNDS"),
    key!("token_limit", token_limit, whole(1, U32); "TOKEN_LIMIT"),
    key!("provider", provider, PROVIDERS),
    key!("model", model, Rule::Name; "MODEL"),
    key!("api_base_url", api_base_url, Rule::Address, or_null; "API_BASE_URL"),
    key!("system_prompt", system_prompt, Rule::Text; "SYSTEM_PROMPT"),
    key!("init_signature", init_signature, Rule::Signature; "INIT_SIGNATURE"),
    key!("seed", seed, whole(0, u64::MAX), or_null),
    key!(
        "scheduling",
        scheduling,
        Rule::OneOf(&["sequential", "snapshot"])
    ),
    key!(
        "parse_mode",
        parse_mode,
        Rule::OneOf(&["lenient", "strict", "legacy"])
    ),
    key!(
        "impersonation",
        impersonation,
        Rule::OneOf(&["keep", "discard"])
    ),
    key!("stamp_seeds", stamp_seeds, Rule::Flag),
    key!("allow_zero_seeds", allow_zero_seeds, Rule::Flag),
    key!("keep", keep, Rule::OneOf(&["all", "active"])),
    key!("concurrency", concurrency, whole(1, 1000)),
    key!("on_error", on_error, Rule::OneOf(&["skip", "stop"])),
    key!(
        "stop.silence_rounds",
        silence_rounds,
        whole(0, U32),
        or_null
    ),
    key!("stop.loss_above", loss_above, number(1.0), or_null),
    key!("stop.fixed_pool", fixed_pool, Rule::Flag),
    key!("caps.max_usd", max_usd, number(1e9), or_null),
    key!("caps.max_tokens", max_tokens, whole(0, u64::MAX), or_null),
    key!("caps.max_wall", max_wall, whole(0, u64::MAX), or_null),
    key!("options.temperature", temperature, number(2.0), or_null),
    key!("options.top_p", top_p, number(1.0), or_null),
    key!("options.seed", option_seed, whole(0, u64::MAX), or_null),
    key!("options.reasoning", reasoning, Rule::Name, or_null),
    key!("system_role", system_role, Rule::Flag),
    key!("durability", durability, Rule::OneOf(&["fsync", "flush"])),
    key!("mind", mind, Rule::Name, or_null),
];

pub(super) fn by_path(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// As [`by_path`], for keys that are in no group.
pub(super) fn at_top(name: &str) -> Option<&'static Key> {
    by_path(name).filter(|_| !name.contains('.'))
}

pub(super) fn by_old_name(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.old == Some(name))
}

/// The group of keys with this name.
pub(super) fn group(name: &str) -> Option<&'static str> {
    let mut groups = KEYS
        .iter()
        .filter_map(|key| Some(key.path.split_once('.')?.0));
    groups.find(|group| *group == name)
}

/// Whether a key that is no setting looks as if it held a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let secrets = [
        "key",
        "secret",
        "password",
        "passwd",
        "authorization",
        "bearer",
    ];
    secrets.iter().any(|secret| name.contains(secret)) || name.ends_with("token")
}

/// The key that is most like a name in `group`: one of that very name, else one of the group, else that which takes the
/// fewest letters to change; the first of equals.
pub(super) fn nearest(name: &str, group: Option<&str>) -> &'static str {
    let name = name.to_lowercase();
    let distance = |key: &&Key| {
        let (inside, own) = match key.path.split_once('.') {
            Some((inside, own)) => (Some(inside), own),
            None => (None, key.path),
        };
        let changed = levenshtein(&name, own).min(levenshtein(&name, key.path));
        let elsewhere = changed > 0 && group.is_some() && group != inside;
        (elsewhere, changed)
    };
    KEYS.iter().min_by_key(distance).map_or("", |key| key.path)
}
