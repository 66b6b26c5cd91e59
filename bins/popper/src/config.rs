//! The configuration file of `check` and of a run: one flat object with the fields of the harness and of the loop.

use std::path::Path;

use popper_discovery::LoopConfig;
use popper_harness::decide::Config;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::input::Text;

/// Reads a configuration file; every field that is absent has its default.
pub fn read(path: &Path) -> Result<(Config, LoopConfig), Error> {
    let file = Text::read(path)?;
    let fields: Map<String, Value> = file.json()?;
    let (harness, discovery) = (Config::default(), LoopConfig::default());
    let (of_harness, of_loop) = (keys(&harness), keys(&discovery));
    let mut parts = [Map::new(), Map::new()];
    for (key, value) in fields {
        let part = if of_harness.contains_key(&key) {
            check::<Config>(&file, &key, &value)?;
            0
        } else if of_loop.contains_key(&key) {
            check::<LoopConfig>(&file, &key, &value)?;
            1
        } else {
            let message = "there is no such field in the harness or the loop";
            return Err(Error::form(&file.name, &format!("$.{key}"), message));
        };
        parts[part].insert(key, value);
    }
    let [harness, discovery] = parts;
    let harness: Config = file.part(Value::Object(harness), "$")?;
    let discovery: LoopConfig = file.part(Value::Object(discovery), "$")?;
    harness
        .check()
        .and_then(|()| discovery.check())
        .map_err(|error| {
            let path = format!("$.{}", error.field);
            Error::form(&file.name, &path, error.message)
        })?;
    Ok((harness, discovery))
}

/// The fields of a configuration with their values.
fn keys(config: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Reads a field alone, so that an error can say which it is about.
fn check<T: DeserializeOwned>(file: &Text, key: &str, value: &Value) -> Result<(), Error> {
    if let Value::Object(fields) = value {
        for (inner, value) in fields {
            file.part::<T>(json!({key: {inner: value}}), &format!("$.{key}.{inner}"))?;
        }
    }
    file.part::<T>(json!({key: value}), &format!("$.{key}"))?;
    Ok(())
}
