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
        // Through a `Value`, whose maps are sorted, so that the order of a hash map does not change the bytes.
        let json = serde_json::to_value(data).and_then(|value| serde_json::to_string(&value));
        Self { name, json }
    }

    /// Returns the id of the element.
    pub(crate) fn id(&self) -> String {
        format!("data-{}", self.name)
    }

    /// Returns the size of the JSON in bytes.
    pub(crate) fn size(&self) -> usize {
        self.json.as_ref().map_or(0, String::len)
    }

    /// Renders the element, or returns the error of the data.
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

/// Renders JSON in an element.
pub(crate) fn element(id: &str, json: &str) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(inert(json))) } }
}

/// Escapes the characters of JSON that have a meaning for an HTML or JavaScript parser. They occur in strings only, where an
/// escape means the same character.
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
