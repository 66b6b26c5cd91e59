//! The reader of `config.json`: from keys to settings.

use indexmap::IndexMap;
use serde_json::Value;

use super::error::{ConfigError, join};
use super::file::{Fields, Json};
use super::keys::Layer;
use super::layer::CHOSEN;
use super::{file, keys, mind_list, rule};

/// The key that lists the settings that a run recorded in its own `config.json`.
const RECORDED: &str = "recorded";

/// Reads a `config.json`.
///
/// Keys are those of [`crate::Settings`]. The requirement's upper-case names (`N_MINDS`) are accepted too, also inside
/// `parameters` and `api`. `timestamp`, which older programs wrote, is ignored.
///
/// # Errors
/// See [`ConfigError`]. Unknown keys are errors, because ignoring a setting would give another run than intended.
///
/// ```
/// let layer = logosphere_core::config::read_config(br#"{"n_minds": 5, "api": {"MODEL": "small"}}"#)?;
/// assert_eq!((layer.n_minds, layer.model.as_deref()), (Some(5), Some("small")));
/// let error = logosphere_core::config::read_config(br#"{"n_mind": 5}"#).unwrap_err();
/// assert_eq!(error.to_string(), "n_mind: no such setting; the nearest is n_minds");
/// # Ok::<(), logosphere_core::config::ConfigError>(())
/// ```
pub fn read_config(bytes: &[u8]) -> Result<Layer, ConfigError> {
    let mut reading = Reading::default();
    reading.object("", None, file::parse(bytes)?)?;
    Ok(reading.layer)
}

/// Reads the settings of a table, which another file has at `path`.
pub(crate) fn read_settings(path: &str, json: Json) -> Result<Layer, ConfigError> {
    let mut reading = Reading::default();
    reading.object(path, None, json)?;
    Ok(reading.layer)
}

/// Reads one setting by its key in `group`, or outside of all groups.
pub(crate) fn read_key(
    path: &str,
    group: Option<&str>,
    name: &str,
    value: Value,
) -> Result<Layer, ConfigError> {
    let mut reading = Reading::default();
    reading.field(path, group, name, Json::Other(value))?;
    Ok(reading.layer)
}

/// Returns the user's part of a `config.json`, and the keys that are left out: those that a run recorded, and the
/// random seed without `keep_seed`.
pub(crate) fn written(
    bytes: &[u8],
    keep_seed: bool,
) -> Result<(Vec<u8>, Vec<&'static str>), ConfigError> {
    read_config(bytes)?;
    // It was read as an object just now.
    let mut fields: IndexMap<String, Value> = serde_json::from_slice(bytes).unwrap_or_default();
    let recorded = fields.shift_remove(RECORDED);
    let was_recorded = |name: &str| {
        let names = recorded.as_ref().and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|recorded| recorded == name))
    };
    let left_out: Vec<_> = (CHOSEN.into_iter())
        .filter(|name| match *name {
            "seed" => !keep_seed,
            name => was_recorded(name),
        })
        .filter(|name| {
            fields
                .shift_remove(*name)
                .is_some_and(|value| !value.is_null())
        })
        .collect();
    if recorded.is_none() && left_out.is_empty() {
        return Ok((bytes.to_vec(), left_out));
    }
    let mut written = serde_json::to_vec_pretty(&fields).unwrap_or_default();
    written.push(b'\n');
    Ok((written, left_out))
}

#[derive(Default)]
struct Reading {
    layer: Layer,
    /// The keys and groups, with the names that they were given by.
    given: Vec<(String, String)>,
}

impl Reading {
    /// Reads the keys of `group`, or of the whole file.
    fn object(&mut self, path: &str, group: Option<&str>, json: Json) -> Result<(), ConfigError> {
        let Json::Object(Fields(fields)) = json else {
            let found = rule::kind(&json.value());
            let why = format!("expected an object of settings, found {found}");
            return Err(ConfigError::new(path, why));
        };
        for (name, json) in fields {
            self.field(&join(path, &name), group, &name, json)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        path: &str,
        group: Option<&str>,
        name: &str,
        json: Json,
    ) -> Result<(), ConfigError> {
        if group.is_none() && (name == "timestamp" || name == RECORDED) {
            self.once(name, path)?;
            return match name {
                RECORDED => recorded(&json.value()),
                _ => Ok(()),
            };
        }
        if group.is_none() && keys::is_group(name) {
            self.once(name, path)?;
            return self.object(path, Some(name), json);
        }
        let key = keys::find(name, group).ok_or_else(|| keys::unknown(path, name, group))?;
        self.once(key.path, path)?;
        let value = json.value();
        if let rule::Rule::List = key.rule {
            mind_list::check(path, &value)?;
        }
        key.read(&mut self.layer, path, value)
    }

    /// Refuses a key that was given already.
    fn once(&mut self, key: &str, path: &str) -> Result<(), ConfigError> {
        if let Some((_, first)) = self.given.iter().find(|(given, _)| given == key) {
            let also = if first == path {
                String::new()
            } else {
                format!(", also as {first}")
            };
            let why = format!("given twice{also}; keep one of them");
            return Err(ConfigError::new(path, why));
        }
        self.given.push((key.to_owned(), path.to_owned()));
        Ok(())
    }
}

/// Refuses a list of recorded settings that names others than those a run chooses.
fn recorded(value: &Value) -> Result<(), ConfigError> {
    let known = |name: &Value| CHOSEN.iter().any(|known| name == known);
    if value
        .as_array()
        .is_some_and(|names| names.iter().all(known))
    {
        return Ok(());
    }
    let why = format!("expected a list of some of {}", CHOSEN.join(", "));
    Err(ConfigError::new(RECORDED, why))
}
