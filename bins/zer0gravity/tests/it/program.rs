//! Runs the binary in a temporary folder.

use std::ops::Deref;
use std::process::Child;

use serde_json::Value;
use test_support::CompressionStub;
use test_support::program::ProgramFolder;
pub use test_support::program::{ProgramRun as Ran, finish, signal, start, words};

/// A folder that the binary runs in, its home too.
pub struct Place(ProgramFolder);

impl Deref for Place {
    type Target = ProgramFolder;

    fn deref(&self) -> &ProgramFolder {
        &self.0
    }
}

impl Place {
    pub fn new() -> Self {
        Self(ProgramFolder::new(env!("CARGO_BIN_EXE_zer0gravity")))
    }

    /// The binary with this server as its model.
    pub fn asking(&self, stub: &CompressionStub, arguments: &[&str]) -> Ran {
        finish(self.start_asking(stub, arguments))
    }

    pub fn start_asking(&self, stub: &CompressionStub, arguments: &[&str]) -> Child {
        start(self.command(arguments).args(server(&stub.url())))
    }
}

/// The flags that name a server.
pub fn server(url: &str) -> [String; 4] {
    ["--provider", "anthropic", "--base-url", url].map(str::to_owned)
}

/// stderr without the line that names the host.
pub fn told(ran: &Ran) -> String {
    let lines = ran.stderr.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("zer0gravity: requests go to "))
        .collect()
}

pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

/// One field of every result, as it is written in JSON but strings without quotes.
pub fn column(results: &[Value], pointer: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let field = |result: &Value| result.pointer(pointer).map_or(String::new(), text);
    results.iter().map(field).collect()
}

/// A result, a list of them or a report without its times.
pub fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // `callsFile` is the hash of a file that has times.
                for name in [
                    "timestamp",
                    "durationMs",
                    "elapsedMs",
                    "createdAt",
                    "callsFile",
                ] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}
