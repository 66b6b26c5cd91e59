//! A JSON parser that accepts what ECMAScript accepts and `serde_json` refuses: numbers are `f64` and may be infinite, and escapes
//! may name half of a surrogate pair. Such replies are valid JSON, and a score must not be lost because of another field.

use serde_json::{Map, Number, Value};

/// The largest depth of a value. Deeper ones are refused, so that reading, dropping or writing a value cannot exhaust the stack.
/// Readers of results stop at 128 levels, and a result has some levels around the value.
const MAX_DEPTH: usize = 100;

/// A JSON value. An object keeps its keys in the order of the text, including repeated ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a complete text; `None` if it is not JSON or too deep.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// Returns the value of `key`; the last one if the key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => entries
                .iter()
                .rev()
                .find_map(|(name, value)| (name == key).then_some(value)),
            _ => None,
        }
    }

    /// Whether an object has `key` twice with different values, ignoring case and spaces around the key.
    pub(super) fn contradicts(&self, key: &str) -> bool {
        let Self::Object(entries) = self else {
            return false;
        };
        let own = (entries.iter()).filter(|(name, _)| name.trim().eq_ignore_ascii_case(key));
        let values: Vec<_> = own.map(|(_, value)| value).collect();
        values.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// Returns the number, if the value is a finite one.
    pub(super) fn finite(&self) -> Option<f64> {
        match self {
            Self::Number(number) if number.is_finite() => Some(*number),
            _ => None,
        }
    }

    /// Whether ECMAScript converts the value to `true`.
    pub(super) fn truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Object(_) => true,
        }
    }

    /// Converts the value for writing: integers without a point, 0 for -0, null for infinities, the last of repeated keys.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => plain(number),
            Self::Text(text) => Value::String(text),
            Self::List(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Object(entries) => Value::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, value.into_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

fn plain(number: f64) -> Value {
    // 2^53: up to this number every integer is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        Value::from(number as i64)
    } else {
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips `byte` if it is next, and returns whether it was.
    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Parses white space and a value inside `depth` other values.
    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        match self.peek()? {
            b'{' if depth < MAX_DEPTH => self.object(depth),
            b'[' if depth < MAX_DEPTH => self.list(depth),
            b'"' => self.string().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        let there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        there.then_some(value)
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut entries = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b'}') {
            return Some(Json::Object(entries));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            if !self.eat(b':') {
                return None;
            }
            entries.push((key, self.value(depth + 1)?));
            self.space();
            if self.eat(b'}') {
                return Some(Json::Object(entries));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b']') {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.eat(b']') {
                return Some(Json::List(items));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        self.eat(b'-');
        // No digit may follow a leading zero.
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        self.text[start..self.at].parse().ok().map(Json::Number)
    }

    fn string(&mut self) -> Option<String> {
        if !self.eat(b'"') {
            return None;
        }
        let mut string = String::new();
        let mut start = self.at;
        loop {
            match self.peek()? {
                b'"' => {
                    string.push_str(&self.text[start..self.at]);
                    self.at += 1;
                    return Some(string);
                }
                b'\\' => {
                    string.push_str(&self.text[start..self.at]);
                    self.at += 1;
                    string.push(self.escaped()?);
                    start = self.at;
                }
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Parses an escape after its backslash.
    fn escaped(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                match unit {
                    0xd800..0xdc00 => self.low(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
                    _ => char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER),
                }
            }
            _ => return None,
        })
    }

    /// Parses four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        let mut unit = 0;
        for &digit in digits {
            unit = unit << 4 | char::from(digit).to_digit(16)? as u16;
        }
        self.at += 4;
        Some(unit)
    }

    /// Parses the second half of a surrogate pair and returns its character. Without a second half nothing is read.
    fn low(&mut self, high: u16) -> Option<char> {
        let before = self.at;
        let low = if self.eat(b'\\') && self.eat(b'u') {
            self.unit()
        } else {
            None
        };
        let pair = low.and_then(|low| char::decode_utf16([high, low]).next()?.ok());
        if pair.is_none() {
            self.at = before;
        }
        pair
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Option<Value> {
        Json::parse(text).map(Json::into_value)
    }

    #[test]
    fn the_grammar() {
        for (text, expected) in [
            (" null ", Some(json!(null))),
            ("[true, false,[ ],{ }]", Some(json!([true, false, [], {}]))),
            (
                r#"{"a":1,"b":{"c":-2.5e1}}"#,
                Some(json!({"a": 1, "b": {"c": -25}})),
            ),
            (r#"{"a":1,"a":2}"#, Some(json!({"a": 2}))),
            (
                r#""\"\\\/\b\f\n\r\t\u00e9""#,
                Some(json!("\"\\/\u{8}\u{c}\n\r\té")),
            ),
            (
                r#""\ud83d\ude00 \ud83d \ude00 \ud83d\u0041""#,
                Some(json!("😀 \u{fffd} \u{fffd} \u{fffd}A")),
            ),
            ("1e999", Some(json!(null))),
            ("-0", Some(json!(0))),
            ("0.1", Some(json!(0.1))),
            ("9007199254740993", Some(json!(9_007_199_254_740_992.0))),
            ("", None),
            ("01", None),
            ("-", None),
            ("1.", None),
            (".5", None),
            ("1e", None),
            ("+1", None),
            ("tru", None),
            ("NaN", None),
            ("[1,]", None),
            ("{\"a\":1,}", None),
            ("{a:1}", None),
            ("{'a':1}", None),
            ("{\"a\" 1}", None),
            ("\"a\nb\"", None),
            ("\"\\x\"", None),
            ("\"\\u12\"", None),
            ("\"\\u12é\"", None),
            ("\"open", None),
            ("\"\\", None),
            ("1 2", None),
            ("\u{a0}1", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Json::parse(&nested(MAX_DEPTH)).is_some());
        assert!(Json::parse(&nested(MAX_DEPTH + 1)).is_none());
        assert!(Json::parse(&"[".repeat(1 << 20)).is_none());
        assert!(Json::parse(&"{\"a\":".repeat(1 << 18)).is_none());
    }

    #[test]
    fn what_serde_json_reads_is_the_same() {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        let tree = leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        proptest!(ProptestConfig::with_cases(128), |(tree in tree)| {
            prop_assert_eq!(value(&tree.to_string()), Some(tree));
        });
    }
}
