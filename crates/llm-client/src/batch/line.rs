//! The lines of a spool.

use std::fmt;
use std::marker::PhantomData;

use jiff::Timestamp;
use llm_types::{Charge, Reply, Request};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::key::Key;
use super::outcome::StoredError;
use crate::Error;
use crate::models::Factor;

pub(super) const SCHEMA_VERSION: u32 = 1;

/// The content of a line. `Q` and `A` are what is read of a request and of a reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SpoolEntry<Q = Request, A = Reply> {
    /// The first line.
    Spool { id: String },
    /// A request that is to be answered.
    Planned { key: Key, request: Q },
    /// A batch is about to be submitted to `server`. Its maximum cost is reserved, at `discount` times the price of calls.
    /// Without a next line about it, the outcome is not known.
    Submitting {
        batch: String,
        server: String,
        keys: Vec<Key>,
        most: Charge,
        discount: Factor,
    },
    /// A batch is at the server, where it has this id.
    Submitted { batch: String, id: String },
    /// The final result of a request.
    Result {
        key: Key,
        #[serde(skip_serializing_if = "Option::is_none")]
        reply: Option<A>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<StoredError>,
    },
    /// A batch is over: its results are in the lines before. It has no charge if the server did not take it.
    Closed {
        batch: String,
        state: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<Charge>,
    },
}

/// The part of a request that the state of a spool needs.
#[derive(Debug, Deserialize)]
pub(super) struct AskedModel {
    pub model: String,
}

/// A line: `schema_version`, the time and the content, in this order.
#[derive(Debug)]
pub(super) struct SpoolLine<Q = Request, A = Reply> {
    pub t: Timestamp,
    pub entry: SpoolEntry<Q, A>,
}

/// A line without its texts.
pub(super) type LineHead = SpoolLine<AskedModel, IgnoredAny>;

impl SpoolEntry {
    /// The result of a request.
    pub fn result(key: Key, result: Result<Reply, Error>) -> Self {
        let (reply, error) = match result {
            Ok(reply) => (Some(reply), None),
            Err(error) => (None, Some(StoredError::of(&error))),
        };
        Self::Result { key, reply, error }
    }
}

impl<Q: Serialize, A: Serialize> SpoolEntry<Q, A> {
    /// The line that is written at `t`, without its end.
    pub fn to_line(&self, t: Timestamp) -> serde_json::Result<String> {
        let entry = serde_json::to_string(self)?;
        let entry = entry.trim_start_matches('{');
        Ok(format!(
            "{{\"schema_version\":{SCHEMA_VERSION},\"t\":\"{t}\",{entry}"
        ))
    }
}

impl<'de, Q: Deserialize<'de>, A: Deserialize<'de>> Deserialize<'de> for SpoolLine<Q, A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor(PhantomData))
    }
}

/// Reads a line field by field: a flattened enum would copy the value, and lose the exact text of a reply.
struct LineVisitor<Q, A>(PhantomData<(Q, A)>);

impl<'de, Q: Deserialize<'de>, A: Deserialize<'de>> Visitor<'de> for LineVisitor<Q, A> {
    type Value = SpoolLine<Q, A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of a spool")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        match map.next_key::<String>()? {
            Some(name) if name == "schema_version" => {}
            _ => return Err(M::Error::custom("expected schema_version first")),
        }
        let version: u32 = map.next_value()?;
        if version != SCHEMA_VERSION {
            return Err(M::Error::custom(format!(
                "schema_version is {version}, this program reads {SCHEMA_VERSION}"
            )));
        }
        match map.next_key::<String>()? {
            Some(name) if name == "t" => {}
            _ => return Err(M::Error::custom("expected t second")),
        }
        let t = map.next_value()?;
        let entry = SpoolEntry::deserialize(MapAccessDeserializer::new(&mut map))?;
        Ok(SpoolLine { t, entry })
    }
}
