use std::borrow::Borrow;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::types::Raw;

/// A JSON object whose values are read one by one, so that a field of an unexpected form spoils nothing else. Keeps
/// the order of its keys.
///
/// A whole reply borrows its values from the body; a stream owns them, since its events go.
#[derive(Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Fields<V>(IndexMap<String, V>);

pub(super) type OwnedFields = Fields<Box<RawValue>>;

impl<V> Default for Fields<V> {
    fn default() -> Self {
        Self(IndexMap::new())
    }
}

impl<V: Borrow<RawValue>> Fields<V> {
    /// The value of a field; a null is none.
    pub fn raw(&self, name: &str) -> Option<&RawValue> {
        self.0
            .get(name)
            .map(Borrow::borrow)
            .filter(|raw: &&RawValue| raw.get() != "null")
    }

    /// The value of a field, if it is a `T`.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.raw(name)
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// The value of a field, if it is a text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.read(name)
    }

    /// The value of a field, if it is a whole number from 0; a float counts as what it is near to.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.raw(name).and_then(number)
    }

    /// All fields, nulls too.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.borrow()))
    }
}

impl OwnedFields {
    /// Sets a field, at its place if it was there before.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Texts, lists of JSON values and the like: they cannot fail.
        if let Ok(raw) = to_raw_value(value) {
            self.0.insert(name.to_owned(), raw);
        }
    }

    /// Takes over a field as a later event gives it: a null does not undo a value.
    pub fn overwrite(&mut self, name: &str, value: &RawValue) {
        if value.get() != "null" || !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The object as one text.
    pub fn to_raw(&self) -> Raw {
        // It cannot fail, as in `set`; a reply without its raw text is worth more than none.
        Raw::of(self).unwrap_or_else(|_| Raw::from(RawValue::NULL.to_owned()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn number(raw: &RawValue) -> Option<u64> {
    let float = || {
        let float: f64 = serde_json::from_str(raw.get()).ok()?;
        (0.0..1e15).contains(&float).then_some(float as u64)
    };
    serde_json::from_str(raw.get()).ok().or_else(float)
}
