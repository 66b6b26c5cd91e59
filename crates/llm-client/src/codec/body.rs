use bytes::Bytes;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::Error;

/// The body of a request: an object whose values are JSON texts, so that received content is sent back unchanged.
#[derive(Debug, Default)]
pub(crate) struct Body(IndexMap<String, Box<RawValue>>);

impl Body {
    /// Sets a field.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let value = to_raw_value(value).map_err(|error| Error::refused(name, error.to_string()))?;
        self.0.insert(name.to_owned(), value);
        Ok(())
    }

    /// Sets a field if there is a value for it.
    pub fn set_some<T: Serialize>(&mut self, name: &str, value: Option<T>) -> Result<(), Error> {
        value.map_or(Ok(()), |value| self.set(name, &value))
    }

    /// The text of the body with the caller's fields merged last; a null removes a field.
    pub fn finish(mut self, extra: &Map<String, Value>) -> Result<Bytes, Error> {
        for (name, value) in extra {
            if value.is_null() {
                self.0.shift_remove(name);
            } else {
                self.set(name, value)?;
            }
        }
        // A long history is not moved again and again while the text grows.
        let fields = self.0.iter();
        let size: usize = fields
            .map(|(name, value)| name.len() + value.get().len() + r#""":,"#.len())
            .sum();
        let mut text = Vec::with_capacity(size + "{}".len());
        serde_json::to_writer(&mut text, &self.0)
            .map_err(|error| Error::refused("request", error.to_string()))?;
        Ok(text.into())
    }
}
