//! The JSON of servers, read in one pass without copies.
//!
//! A value of the wrong type in a field that is not needed counts as absent, and unknown fields are skipped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::codec::fields::Fields;

/// A whole reply, or one chunk of a stream.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub id: LenientText<'a>,
    /// `error` in an older form of model servers: then the whole is the error.
    #[serde(borrow, default)]
    pub object: LenientText<'a>,
    #[serde(borrow, default)]
    pub model: LenientText<'a>,
    #[serde(borrow, default)]
    pub choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub index: Number,
    /// The message of a reply without streaming, kept as text for the echo.
    #[serde(borrow, default)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub delta: Option<WireMessage<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: LenientText<'a>,
    #[serde(borrow, default)]
    pub native_finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// A message, or a part of one.
#[derive(Deserialize, Default)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    pub content: LenientText<'a>,
    #[serde(borrow, default)]
    pub refusal: LenientText<'a>,
    #[serde(borrow, default)]
    pub reasoning: LenientText<'a>,
    #[serde(borrow, default)]
    pub reasoning_content: LenientText<'a>,
    #[serde(borrow, default)]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<ContentPart<'a>>>,
}

/// A tool call, or a part of one.
#[derive(Deserialize)]
pub(super) struct ContentPart<'a> {
    #[serde(default)]
    pub index: Number,
    #[serde(borrow, default)]
    pub id: LenientText<'a>,
    #[serde(borrow, default)]
    pub function: Option<PartialFunction<'a>>,
}

#[derive(Deserialize)]
pub(super) struct PartialFunction<'a> {
    #[serde(borrow, default)]
    pub name: LenientText<'a>,
    /// A text that holds JSON; some servers send the object itself.
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

impl<'a> Chunk<'a> {
    /// The error in `text`, from which this was read, in place of an answer.
    pub fn error(&self, text: &'a str) -> Option<&'a RawValue> {
        match self.object.filled() {
            Some("error") => self.error.or_else(|| serde_json::from_str(text).ok()),
            _ => self.error,
        }
    }
}

impl<'a> PartialFunction<'a> {
    pub fn arguments(&self) -> Cow<'a, str> {
        let Some(raw) = self.arguments else {
            return Cow::Borrowed("");
        };
        let text: Result<LenientText<'a>, _> = serde_json::from_str(raw.get());
        match text {
            Ok(LenientText(Some(text))) if raw.get().starts_with('"') => text,
            _ => Cow::Borrowed(raw.get()),
        }
    }
}

/// A text, or the texts of a list of parts. Absent for any other value.
#[derive(Default)]
pub(super) struct LenientText<'a>(pub Option<Cow<'a, str>>);

impl LenientText<'_> {
    /// The text if it is present and not empty.
    pub fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;
        impl<'de> Visitor<'de> for Lenient {
            type Value = LenientText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(
                self,
                text: &'de str,
            ) -> Result<LenientText<'de>, E> {
                Ok(LenientText(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<LenientText<'de>, E> {
                Ok(LenientText(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut parts: A,
            ) -> Result<LenientText<'de>, A::Error> {
                let mut whole = String::new();
                while let Some(part) = parts.next_element::<&RawValue>()? {
                    whole += &text_of_part(part);
                }
                Ok(LenientText(Some(Cow::Owned(whole))))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LenientText<'de>, A::Error> {
                skip(map)?;
                Ok(LenientText(None))
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LenientText<'de>, E> {
                Ok(LenientText(None))
            }

            fn visit_i64<E: de::Error>(self, _: i64) -> Result<LenientText<'de>, E> {
                Ok(LenientText(None))
            }

            fn visit_u64<E: de::Error>(self, _: u64) -> Result<LenientText<'de>, E> {
                Ok(LenientText(None))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<LenientText<'de>, E> {
                Ok(LenientText(None))
            }

            fn visit_unit<E: de::Error>(self) -> Result<LenientText<'de>, E> {
                Ok(LenientText(None))
            }
        }
        deserializer.deserialize_any(Lenient)
    }
}

fn text_of_part(part: &RawValue) -> String {
    let Some(fields) = Fields::of(part.get()) else {
        return serde_json::from_str(part.get()).unwrap_or_default();
    };
    match fields.text("type").as_deref() {
        Some("text" | "output_text") | None => fields.text("text").unwrap_or_default(),
        Some(_) => String::new(),
    }
}

fn skip<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map
        .next_entry::<de::IgnoredAny, de::IgnoredAny>()?
        .is_some()
    {}
    Ok(())
}

/// A small number. Absent for any other value.
#[derive(Default, Clone, Copy)]
pub(super) struct Number(pub Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().parse().ok()))
    }
}
