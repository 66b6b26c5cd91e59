use indexmap::IndexMap;
use llm_types::Raw;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::codec::fields::Fields;

/// A JSON object assembled from events: a later value replaces the first in place.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Object(IndexMap<String, Box<RawValue>>);

impl Object {
    /// The object to read from.
    pub fn fields(&self) -> Fields<'_> {
        self.iter().collect()
    }

    /// All fields in their order, nulls too.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// Sets a field.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Texts, lists of JSON values and the like: they cannot fail.
        if let Ok(raw) = to_raw_value(value) {
            self.0.insert(name.to_owned(), raw);
        }
    }

    /// Updates a field from a later event; a null does not replace a value.
    pub fn overwrite(&mut self, name: &str, value: &RawValue) {
        if value.get() != "null" || !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Updates every field from `later`, if it is an object.
    pub fn merge(&mut self, later: &RawValue) {
        if let Ok(later) = serde_json::from_str::<Self>(later.get()) {
            for (name, value) in later.iter() {
                self.overwrite(name, value);
            }
        }
    }

    /// The object as one text.
    pub fn to_raw(&self) -> Raw {
        raw_of(self)
    }

    /// The object as one text with a field set to `value`, which is written only once since it may be long.
    pub fn to_raw_with<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Raw {
        raw_of(&With {
            object: self,
            name,
            value,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct With<'a, T: ?Sized> {
    object: &'a Object,
    name: &'a str,
    value: &'a T,
}

impl<T: Serialize + ?Sized> Serialize for With<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.object.iter() {
            if name == self.name {
                map.serialize_entry(name, self.value)?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        if !self.object.0.contains_key(self.name) {
            map.serialize_entry(self.name, self.value)?;
        }
        map.end()
    }
}

fn raw_of<T: Serialize>(object: &T) -> Raw {
    // It cannot fail, as in `set`; a reply without its raw text is worth more than none.
    Raw::of(object).unwrap_or_else(|_| Raw::from(RawValue::NULL.to_owned()))
}
