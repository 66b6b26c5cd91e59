//! A reader of JSON objects, field by field, which notes every problem with its path.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::error::Problem;
use super::limits::{MAX_ITEMS, MAX_TEXT};
use crate::json::{hint, kind, nearest};

pub(super) type Problems = RefCell<Vec<Problem>>;

pub(super) fn problem(problems: &Problems, path: &str, message: impl Into<String>) {
    problems.borrow_mut().push(Problem {
        path: path.into(),
        message: message.into(),
    });
}

/// The expected form of the entries of a list, for messages.
const FORMS: [(&str, &str); 2] = [
    (
        "preconditions",
        r#"{"lhs": "count('F')", "op": "==", "rhs": 1}"#,
    ),
    ("observables", r#"{"name": "f", "expr": "count('F')"}"#),
];
const NO_CONTROL: &str = "a name has no control characters";

/// A JSON object that is being read. Each getter notes a problem and returns `None`; `null` means absent.
pub(super) struct LawObject<'a> {
    pub(super) path: String,
    pub(super) map: &'a Map<String, Value>,
    pub(super) problems: &'a Problems,
}

impl<'a> LawObject<'a> {
    pub(super) fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    pub(super) fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Option<T> {
        problem(self.problems, &self.at(key), message);
        None
    }

    pub(super) fn known(&self, keys: &[&str]) {
        for key in self.map.keys().filter(|key| !keys.contains(&key.as_str())) {
            let free = keys
                .iter()
                .copied()
                .filter(|known| !self.map.contains_key(*known));
            let meant = hint(nearest(key, free));
            let _: Option<()> = self.wrong(key, format!("unknown key `{key}`{meant}"));
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn require(&self, key: &str, what: &str) -> Option<&'a Value> {
        self.get(key)
            .or_else(|| self.wrong(key, format!("is missing, expected {what}")))
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        match value.as_str() {
            Some(text) if text.len() <= MAX_TEXT => Some(text.into()),
            Some(text) => self.wrong(
                key,
                format!("is {} bytes long, the limit is {MAX_TEXT}", text.len()),
            ),
            None => self.wrong(key, format!("expected a string, found {}", kind(value))),
        }
    }

    pub(super) fn required_text(&self, key: &str) -> Option<String> {
        self.require(key, "a string")?;
        self.text(key)
    }

    pub(super) fn filled_text(&self, key: &str) -> Option<String> {
        let text = self.required_text(key)?;
        if text.trim().is_empty() {
            self.wrong(key, "is blank")
        } else {
            Some(text)
        }
    }

    /// Reads a name: a text without control characters.
    pub(super) fn name(&self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        if text.chars().any(char::is_control) {
            self.wrong(key, NO_CONTROL)
        } else {
            Some(text)
        }
    }

    pub(super) fn integer(&self, key: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let value = self.get(key)?;
        match value.as_i64() {
            Some(number) if range.contains(&number) => Some(number),
            Some(number) => self.wrong(
                key,
                format!("is {number}, expected {} to {}", range.start(), range.end()),
            ),
            None => self.wrong(key, format!("expected an integer, found {value}")),
        }
    }

    pub(super) fn one_of<T: Copy>(&self, key: &str, choices: &[(T, &str)]) -> Option<T> {
        let text = self.text(key)?;
        choices
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(choice, _)| *choice)
            .or_else(|| {
                let names: Vec<_> = choices
                    .iter()
                    .map(|(_, name)| format!("`{name}`"))
                    .collect();
                self.wrong(key, format!("`{text}` is not one of {}", names.join(" ")))
            })
    }

    pub(super) fn symbol(&self, key: &str) -> Option<char> {
        let text = self.text(key)?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(symbol), None) => Some(symbol),
            _ => self.wrong(key, "expected one symbol"),
        }
    }

    pub(super) fn object(&self, key: &str) -> Option<LawObject<'a>> {
        match self.get(key)? {
            Value::Object(map) => Some(LawObject {
                path: self.at(key),
                map,
                problems: self.problems,
            }),
            other => self.wrong(key, format!("expected an object, found {}", kind(other))),
        }
    }

    pub(super) fn array(&self, key: &str) -> &'a [Value] {
        match self.get(key) {
            None => &[],
            Some(Value::Array(items)) if items.len() <= MAX_ITEMS => items,
            Some(Value::Array(items)) => {
                let _: Option<()> = self.wrong(
                    key,
                    format!("has {} entries, the limit is {MAX_ITEMS}", items.len()),
                );
                &[]
            }
            Some(other) => {
                let _: Option<()> =
                    self.wrong(key, format!("expected an array, found {}", kind(other)));
                &[]
            }
        }
    }

    pub(super) fn objects(&self, key: &str) -> impl Iterator<Item = LawObject<'a>> {
        self.array(key)
            .iter()
            .enumerate()
            .filter_map(move |(index, value)| match value {
                Value::Object(map) => Some(LawObject {
                    path: format!("{}[{index}]", self.at(key)),
                    map,
                    problems: self.problems,
                }),
                other => {
                    let form = FORMS.iter().find(|(known, _)| *known == key);
                    let form = form.map_or(String::new(), |(_, form)| format!(" such as {form}"));
                    self.wrong(
                        &format!("{key}[{index}]"),
                        format!("expected an object{form}, found {}", kind(other)),
                    )
                }
            })
    }

    pub(super) fn names(&self, key: &str) -> Vec<String> {
        let read = |(index, value): (usize, &Value)| {
            let wrong = |message| self.wrong(&format!("{key}[{index}]"), message);
            match value.as_str() {
                Some(name) if name.chars().any(char::is_control) => wrong(NO_CONTROL),
                Some(name) => Some(name.to_owned()),
                None => wrong("expected a string"),
            }
        };
        self.array(key)
            .iter()
            .enumerate()
            .filter_map(read)
            .collect()
    }
}
