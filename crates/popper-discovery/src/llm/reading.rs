//! The reader of replies. A reply is data: a problem is reported, never guessed away, and no string is edited.

use std::fmt;

use llm_client::json::find;
use popper_harness::json;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::symbol_mask::SymbolMask;
use crate::rank::Candidate;

/// The longest law that is read, in bytes. A valid law is shorter.
pub(super) const MAX_LAW: usize = 256 << 10;
/// The longest research log that is kept, in bytes.
pub(super) const MAX_LOG: usize = 16 << 10;

/// The content of a reply.
#[derive(Debug, Clone, Default)]
pub(super) struct ParsedReply<'a> {
    /// The model's notes.
    pub log: Option<String>,
    /// The elements of `candidate_laws`, each as it was written, up to the limit.
    pub laws: Vec<&'a str>,
    /// The number of elements beyond the limit.
    pub surplus: u64,
    /// Whether there is a list of laws, complete or not.
    has_list: bool,
    /// The error if the reply does not have the requested form. The laws are then the complete ones before the error.
    pub fault: Option<ReplyProblem>,
    /// A problem that affects no law.
    pub note: Option<String>,
}

/// The error of a reply that does not have the requested form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyProblem {
    pub what: String,
    /// Whether the text ends too early and is valid up to its end.
    pub is_cut: bool,
}

impl<'a> ParsedReply<'a> {
    /// Reads a reply, and at most `limit` laws of it.
    ///
    /// Every byte is read a few times at most, without recursion, however long or deep the text is.
    pub fn of(text: &'a str, limit: usize) -> Self {
        let found = find(text);
        let whole = found.as_ref().ok().map(|json| Self::read(json, limit));
        if let Some(reading) = whole.as_ref().filter(|reading| reading.fault.is_none()) {
            return reading.clone();
        }
        // Where an answer breaks off, or is broken in the middle, there is still what stands before; and what was found may be
        // a piece of it.
        let broken = starts(text).into_iter();
        let broken = broken.map(|start| Self::read(&text[start..], limit));
        let readings = whole.into_iter().chain(broken);
        let best = readings.max_by_key(|reading| (reading.has_list, reading.laws.len()));
        let mut reading = best.unwrap_or_default();
        if let Err(error) = found {
            let fault = reading.fault.take().filter(|_| reading.has_list);
            let is_cut = fault.as_ref().is_some_and(|fault| fault.is_cut);
            // Where the list was reached, the place where it breaks says more than that there is no JSON.
            let what = fault.filter(|fault| !fault.is_cut).map(|fault| fault.what);
            reading.fault = Some(ReplyProblem {
                what: what.unwrap_or(error.message),
                is_cut,
            });
        }
        reading
    }

    fn read(json: &'a str, limit: usize) -> Self {
        let mut reading = Self::default();
        let mut raw_log = None;
        let form = ReplyVisitor {
            limit,
            log: &mut raw_log,
            reading: &mut reading,
        };
        let read = form.deserialize(&mut serde_json::Deserializer::from_str(json));
        reading.fault = read.err().map(|error| ReplyProblem {
            is_cut: error.is_eof(),
            what: short(&error.to_string()),
        });
        reading.note_log(raw_log);
        reading
    }

    /// Returns the text after the last complete law.
    pub fn rest(&self, text: &'a str) -> &'a str {
        let Some(law) = self.laws.last() else {
            return text;
        };
        // Each law is a part of the text.
        let end = (law.as_ptr().addr() + law.len()).saturating_sub(text.as_ptr().addr());
        let rest = text.get(end..).unwrap_or(text);
        rest.trim_start_matches([' ', '\n', '\r', '\t', ','])
    }

    fn note_log(&mut self, raw: Option<&RawValue>) {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
            return;
        };
        match serde_json::from_str::<String>(raw.get()) {
            Ok(mut log) => {
                if log.len() > MAX_LOG {
                    self.note = Some(format!(
                        "research_log has {} bytes, the first {MAX_LOG} are kept",
                        log.len()
                    ));
                    log.truncate(log.floor_char_boundary(MAX_LOG));
                }
                self.log = Some(log).filter(|log| !log.trim().is_empty());
            }
            Err(error) => self.note = Some(format!("research_log: {}", short(&error.to_string()))),
        }
    }

    /// Returns the laws in the terms of the universe.
    pub fn candidates(&self, mask: &SymbolMask) -> Vec<Candidate> {
        let read = |raw: &&str| Candidate {
            raw: (*raw).to_owned(),
            law: law(raw).map(|law| mask.law(&law)),
        };
        self.laws.iter().map(read).collect()
    }

    /// Returns the problems of the reply as a whole, for the summary.
    pub fn problem(&self) -> Option<String> {
        let cut = self.fault.as_ref().map(|fault| match self.laws.len() {
            0 => fault.what.clone(),
            laws => format!("{}; {laws} whole laws before that are kept", fault.what),
        });
        let surplus = (self.surplus > 0).then(|| {
            format!(
                "{} laws more than the {} that are read",
                self.surplus,
                self.laws.len()
            )
        });
        let problems: Vec<String> = [cut, surplus, self.note.clone()]
            .into_iter()
            .flatten()
            .collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}

/// Reads an element of the list.
fn law(raw: &str) -> Result<Value, String> {
    if raw.len() > MAX_LAW {
        return Err(format!(
            "is {} bytes long, the limit is {MAX_LAW}",
            raw.len()
        ));
    }
    let value = json::parse(raw, "$").map_err(|error| match error.path.as_str() {
        "$" => error.message,
        _ => error.to_string(),
    })?;
    let kind = match value {
        Value::Object(_) => return Ok(value),
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
    };
    Err(format!("expected a law (an object), found {kind}"))
}

/// The offsets at which an incomplete object may begin: the first brace, and the first one at the start of a line.
fn starts(text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> = text.find('{').into_iter().collect();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        if line[blank..].starts_with('{') {
            starts.push(at + blank);
            break;
        }
        at += line.len();
    }
    starts.dedup();
    starts
}

/// The start of a message, at most 400 bytes.
fn short(message: &str) -> String {
    message[..message.floor_char_boundary(400)].to_owned()
}

/// The reader of the whole reply. It writes to a value outside, so that an error at the end does not lose earlier laws.
struct ReplyVisitor<'r, 'a> {
    limit: usize,
    log: &'r mut Option<&'a RawValue>,
    reading: &'r mut ParsedReply<'a>,
}

impl<'a> DeserializeSeed<'a> for ReplyVisitor<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for ReplyVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one object with research_log and candidate_laws")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut has_laws = false;
        let twice = |key: &str| A::Error::custom(format_args!("the key {key} occurs twice"));
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "research_log" if self.log.is_some() => return Err(twice("research_log")),
                "research_log" => *self.log = Some(fields.next_value()?),
                "candidate_laws" if has_laws => return Err(twice("candidate_laws")),
                "candidate_laws" => {
                    has_laws = true;
                    fields.next_value_seed(LawListVisitor {
                        limit: self.limit,
                        reading: self.reading,
                    })?;
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        if has_laws {
            Ok(())
        } else {
            Err(A::Error::custom("the key candidate_laws is missing"))
        }
    }
}

/// The reader of the list of laws.
struct LawListVisitor<'r, 'a> {
    limit: usize,
    reading: &'r mut ParsedReply<'a>,
}

impl<'a> DeserializeSeed<'a> for LawListVisitor<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for LawListVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("candidate_laws to be an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        self.reading.has_list = true;
        while self.reading.laws.len() < self.limit {
            let Some(item) = items.next_element::<&'a RawValue>()? else {
                return Ok(());
            };
            self.reading.laws.push(item.get());
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            self.reading.surplus += 1;
        }
        Ok(())
    }
}
