//! Hashes, and the canonical form of JSON that they are of.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Serialises `value` as JSON with sorted keys and no white space.
///
/// `serde_json`'s map is a sorted one here: the workspace keeps out its feature `preserve_order`.
pub(crate) fn canonical_json(value: &Value) -> String {
    value.to_string()
}

/// Writes the JSON `text` to `out` as [`canonical_json`] writes its value, in one pass over it. Fields of the outermost
/// object that are in `left_out` are skipped.
pub(crate) fn write_canonical(
    text: &[u8],
    left_out: &[&str],
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let mut source = serde_json::Deserializer::from_slice(text);
    CanonicalWriter { out, left_out }.deserialize(&mut source)?;
    source.end()
}

/// Writes a scalar, which has one form.
pub(crate) fn write_scalar<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    serde_json::to_writer(out, value)
}

struct CanonicalWriter<'a> {
    out: &'a mut Vec<u8>,
    left_out: &'a [&'a str],
}

impl CanonicalWriter<'_> {
    fn scalar<T: Serialize + ?Sized, E: de::Error>(self, value: &T) -> Result<(), E> {
        write_scalar(value, self.out).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for CanonicalWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CanonicalWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.scalar(&())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<(), E> {
        // Borrowed from the source, where it needed no escape: it needs none here.
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.scalar(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.out.push(b'[');
        let start = self.out.len();
        loop {
            let end = self.out.len();
            if end > start {
                self.out.push(b',');
            }
            let item = CanonicalWriter {
                out: self.out,
                left_out: &[],
            };
            if items.next_element_seed(item)?.is_none() {
                self.out.truncate(end);
                self.out.push(b']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let start = self.out.len();
        let mut found: Vec<(String, Range<usize>)> = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            if self.left_out.contains(&name.as_str()) {
                fields.next_value::<de::IgnoredAny>()?;
                continue;
            }
            let at = self.out.len();
            write_scalar(&name, self.out).map_err(de::Error::custom)?;
            self.out.push(b':');
            fields.next_value_seed(CanonicalWriter {
                out: self.out,
                left_out: &[],
            })?;
            found.push((name, at..self.out.len()));
        }
        // Of equal names the last one counts; the sort keeps their order.
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        let written = self.out.split_off(start);
        self.out.push(b'{');
        for (index, (name, Range { start: at, end })) in found.iter().enumerate() {
            if found.get(index + 1).is_some_and(|(next, _)| next == name) {
                continue;
            }
            if self.out.len() > start + 1 {
                self.out.push(b',');
            }
            self.out
                .extend_from_slice(&written[at - start..end - start]);
        }
        self.out.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str, left_out: &[&str]) -> Result<String, serde_json::Error> {
        let mut out = b"before".to_vec();
        write_canonical(text.as_bytes(), left_out, &mut out)?;
        Ok(String::from_utf8(out.split_off("before".len())).unwrap())
    }

    /// The canonical form by way of a value.
    fn by_value(text: &str) -> Result<String, serde_json::Error> {
        serde_json::from_str(text).map(|value| canonical_json(&value))
    }

    fn check(text: &str) {
        let (found, expected) = (canonical(text, &[]), by_value(text));
        assert_eq!(found.ok(), expected.ok(), "{text}");
    }

    #[test]
    fn the_form_is_that_of_the_value() {
        for text in [
            r#"{"b":1,"a":[ 1.0, 1e2,-0,-0.0,-7, 18446744073709551615, 18446744073709551616]}"#,
            r#"{"a":1,"b":{"d":[],"c":{}},"a":{"z":1,"y":2}}"#,
            r#"{"\u0061":"\u00e4\n\/\u0001","a":"later"} "#,
            r#" ["ä\u2028", "\ud83d\ude00", "\"\\", ""]"#,
            r#"{"":null,"A":true,"a":false,"é":0,"z":1e-7}"#,
            "1e400",
            "[1,]",
            "{\"a\" 1}",
            "{} 1",
            "\"\\ud800\"",
            "",
        ] {
            check(text);
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        check(&deep(127));
        check(&deep(128));
    }

    #[test]
    fn fields_are_left_out_at_the_top_only() {
        let text = r#"{"user":1,"b":{"user":2},"a":[{"stream":true}],"stream":false}"#;
        assert_eq!(
            canonical(text, &["stream", "user"]).unwrap(),
            r#"{"a":[{"stream":true}],"b":{"user":2}}"#
        );
        assert_eq!(canonical("[1]", &["stream"]).unwrap(), "[1]");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_has_one_form(value in json()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                // A number may be read as its neighbour, in both ways as the same one.
                prop_assert_eq!(canonical(&text, &[]).unwrap(), by_value(&text).unwrap());
            }
        }

        #[test]
        fn no_text_is_a_crash(text in r#"[\[\]{}",:0-9a\\e.+-]{0,40}"#) {
            prop_assert_eq!(canonical(&text, &[]).ok(), by_value(&text).ok());
        }
    }
}
