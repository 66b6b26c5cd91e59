//! The checks of a list of minds.

use serde_json::Value;

use super::error::{ConfigError, join};
use super::keys::{self, OFFLINE};
use super::rule::{NAME, Rule, kind};
use super::settings::Settings;

/// The keys of a model in the list, besides those in `options`.
const KEYS: [&str; 4] = ["provider", "model", "api_base_url", "options"];

impl Settings {
    /// Checks the list of minds against the other settings.
    pub(super) fn check_minds(&self) -> Result<(), ConfigError> {
        let Some(minds) = &self.minds else {
            return Ok(());
        };
        check("minds", &serde_json::to_value(minds).unwrap_or_default())?;
        let refuse = |why: &str| Err(ConfigError::new("minds", why));
        let scripted = minds.iter().filter(|mind| mind.is_scripted()).count();
        if self.mind.is_some() {
            return refuse("mind and minds both name the minds; leave one of them out");
        }
        if scripted != 0 && scripted != minds.len() {
            return refuse(
                "scripted minds and models play in no run together; list only texts, or only tables with a model",
            );
        }
        if (scripted > 0) != self.is_offline() {
            return refuse(
                "scripted minds play only offline, and models never; leave provider out, or list others",
            );
        }
        if minds.len() as u64 > u64::from(self.n_minds) {
            let why = format!(
                "{} entries for {} minds; list at most one for each",
                minds.len(),
                self.n_minds
            );
            return refuse(&why);
        }
        Ok(())
    }
}

/// Checks the form of a list of minds, which a file has at `path`.
pub(super) fn check(path: &str, value: &Value) -> Result<(), ConfigError> {
    let expected = |path: String, expected: &str, found: &Value| {
        let why = format!("expected {expected}, found {}", kind(found));
        Err(ConfigError::new(path, why))
    };
    let Some(minds) = value.as_array().filter(|minds| !minds.is_empty()) else {
        return expected(path.to_owned(), "a list of at least one mind", value);
    };
    for (index, mind) in minds.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match mind {
            Value::String(_) => check_value(&path, NAME, mind)?,
            Value::Object(fields) => {
                for (name, value) in fields {
                    check_field(&join(&path, name), name, value)?;
                }
                if !fields.contains_key("model") {
                    return Err(ConfigError::new(path, "model is missing"));
                }
            }
            _ => {
                let forms = "a scripted mind such as \"copier\", or a table with a model";
                return expected(path, forms, mind);
            }
        }
    }
    Ok(())
}

fn check_field(path: &str, name: &str, value: &Value) -> Result<(), ConfigError> {
    match (name, value) {
        ("provider", Value::String(name)) if name == OFFLINE => {
            let why = "a model has another provider; a scripted mind is a text such as \"copier\"";
            Err(ConfigError::new(path, why))
        }
        ("options", Value::Object(options)) => options.iter().try_for_each(|(name, value)| {
            let path = join(path, name);
            match keys::find(name, Some("options")) {
                Some(key) => check_value(&path, key.rule, value),
                None => Err(keys::unknown(&path, name, Some("options"))),
            }
        }),
        ("options", other) => {
            let why = format!("expected a table, found {}", kind(other));
            Err(ConfigError::new(path, why))
        }
        _ => {
            let key = keys::find(name, None).filter(|_| KEYS.contains(&name));
            let key = key.ok_or_else(|| {
                let why = format!("no such key of a mind; it has {}", KEYS.join(", "));
                ConfigError::new(path, why)
            })?;
            check_value(path, key.rule, value)
        }
    }
}

fn check_value(path: &str, rule: Rule, value: &Value) -> Result<(), ConfigError> {
    if rule.allows(value) {
        return Ok(());
    }
    let why = format!("expected {rule}, found {}", rule.found(value));
    Err(ConfigError::new(path, why))
}
