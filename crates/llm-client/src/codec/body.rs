use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::Error;

/// The bytes that most bodies need.
const BODY: usize = 4 << 10;

/// The body of a request: an object that is written field by field, so that received content is sent back unchanged.
#[derive(Debug)]
pub(crate) struct Body {
    text: Vec<u8>,
    /// The name of each field, and the place of its value.
    fields: Vec<(Cow<'static, str>, Range<usize>)>,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            text: Vec::with_capacity(BODY),
            fields: Vec::with_capacity(8),
        }
    }
}

impl Body {
    /// Sets a field that is not set yet.
    pub fn set<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.write(name.into(), value)
    }

    fn write<T: Serialize + ?Sized>(
        &mut self,
        name: Cow<'static, str>,
        value: &T,
    ) -> Result<(), Error> {
        let refused = |error: serde_json::Error| Error::refused(&*name, error.to_string());
        self.text
            .push(if self.fields.is_empty() { b'{' } else { b',' });
        serde_json::to_writer(&mut self.text, &*name).map_err(refused)?;
        self.text.push(b':');
        let start = self.text.len();
        serde_json::to_writer(&mut self.text, value).map_err(refused)?;
        self.fields.push((name, start..self.text.len()));
        Ok(())
    }

    /// Sets a field if there is a value for it.
    pub fn set_some<T: Serialize>(
        &mut self,
        name: &'static str,
        value: Option<T>,
    ) -> Result<(), Error> {
        value.map_or(Ok(()), |value| self.set(name, &value))
    }

    /// The text of the body with the caller's fields merged last; a null removes a field.
    pub fn finish(mut self, extra: &Map<String, Value>) -> Result<Bytes, Error> {
        for (name, value) in extra {
            match self.fields.iter().position(|(own, _)| own == name) {
                Some(place) => self.replace(place, value)?,
                None if value.is_null() => {}
                None => self.write(name.clone().into(), value)?,
            }
        }
        if self.fields.is_empty() {
            self.text.push(b'{');
        }
        self.text.push(b'}');
        Ok(self.text.into())
    }

    /// Writes all fields again, with another value in one place; a null removes the field.
    fn replace(&mut self, place: usize, value: &Value) -> Result<(), Error> {
        let old = std::mem::take(self);
        for (index, (name, at)) in old.fields.into_iter().enumerate() {
            if index == place && value.is_null() {
                continue;
            }
            if index == place {
                self.write(name, value)?;
                continue;
            }
            let written: &RawValue = serde_json::from_slice(&old.text[at])
                .map_err(|error| Error::refused(&*name, error.to_string()))?;
            self.write(name, written)?;
        }
        Ok(())
    }
}
