//! Data embedded in the page: JSON that cannot leave its element.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::error::Error;

/// A named piece of data, as JSON.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) name: String,
    json: Result<String, serde_json::Error>,
}

impl Embedded {
    pub(crate) fn new(name: String, data: &impl Serialize) -> Self {
        // By way of a value: its maps are sorted, so a hash map in the data does not change the bytes.
        let json = serde_json::to_value(data).and_then(|value| serde_json::to_string(&value));
        Self { name, json }
    }

    /// The element's id.
    pub(crate) fn id(&self) -> String {
        format!("data-{}", self.name)
    }

    /// The size of the JSON in bytes.
    pub(crate) fn size(&self) -> usize {
        self.json.as_ref().map_or(0, String::len)
    }

    /// The element, or the error of the data.
    pub(crate) fn render(&self) -> Result<Markup, Error> {
        let named = !self.name.is_empty()
            && (self.name.bytes())
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !named {
            return Err(Error::DataName {
                name: self.name.clone(),
            });
        }
        match &self.json {
            Ok(json) => Ok(element(&self.id(), json)),
            Err(error) => Err(Error::Data {
                name: self.name.clone(),
                // The error cannot be copied, and a page can be rendered twice.
                source: <serde_json::Error as serde::ser::Error>::custom(error),
            }),
        }
    }
}

/// JSON in an element.
pub(crate) fn element(id: &str, json: &str) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(inert(json))) } }
}

/// JSON with escapes for the characters that have a meaning to an HTML or JavaScript parser. They occur in strings only,
/// where an escape means the same.
fn inert(json: &str) -> String {
    let mut inert = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => inert.push_str("\\u003c"),
            '>' => inert.push_str("\\u003e"),
            '&' => inert.push_str("\\u0026"),
            '\u{2028}' => inert.push_str("\\u2028"),
            '\u{2029}' => inert.push_str("\\u2029"),
            other => inert.push(other),
        }
    }
    inert
}
