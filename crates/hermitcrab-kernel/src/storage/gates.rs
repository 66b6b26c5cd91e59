use std::borrow::Cow;

use llm_client::Redactor;
use pscale_blocks::store::KeyFilter;
use serde_json::Value;

/// The two gates that no key passes: to the disk, and to the model or the page. All that goes there is cleaned here.
#[derive(Debug, Clone)]
pub(crate) struct KeyGates(pub Redactor);

/// The gate to the disk. As a filter of a block store, which takes out what looks like a key by itself.
impl KeyFilter for KeyGates {
    fn hide(&self, text: String) -> String {
        self.0.redact_exact(text)
    }
}

/// The gate to the disk.
impl KeyGates {
    /// The bytes of a file. Bytes that are not text stay as they are.
    pub fn file<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Owned(self.0.redact(text).into_bytes()),
            Err(_) => Cow::Borrowed(bytes),
        }
    }

    /// A text that the person or the model wrote, and that is kept: it holds words such as `sk-loading`, too.
    pub fn written(&self, text: &str) -> String {
        self.0.redact_written(text)
    }
}

/// The gate to the model and to the page.
impl KeyGates {
    /// A text of a tool, a server or a face.
    pub fn told(&self, text: &str) -> String {
        self.0.redact(text)
    }

    /// An answer of a tool.
    pub fn answer(&self, answer: &mut Value) {
        change(answer, &|text| self.told(&text));
    }

    /// A request of a face.
    pub fn request(&self, request: &mut Value) {
        change(request, &|text| self.written(&text));
    }

    /// Arguments of a tool. What else looks like a key is left to the tool, which says how many it took out.
    pub fn arguments(&self, arguments: &mut Value) {
        change(arguments, &|text| self.0.redact_exact(text));
    }
}

/// Changes every text in `value`, but no key of an object.
fn change(value: &mut Value, hide: &dyn Fn(String) -> String) {
    match value {
        Value::String(text) => *text = hide(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, hide)),
        Value::Object(map) => map.values_mut().for_each(|item| change(item, hide)),
        _ => {}
    }
}
