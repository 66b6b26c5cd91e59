//! Calls that no client should make: each has an error, and the server survives all.

use serde_json::{Value, json};

use super::Wire;

/// The calls that malformed ones are made of.
#[derive(Debug)]
pub struct MalformedCalls<'a> {
    /// A tool with arguments that it takes.
    pub good: (&'a str, Value),
    /// The arguments of it that may not have another type, and are not a text.
    pub keys: &'a [&'a str],
    /// A tool with arguments that it takes fast.
    pub quick: (&'a str, Value),
    /// Calls whose arguments the tools refuse.
    pub refused: &'a [(&'a str, Value)],
}

/// A sequence of numbers that looks random and is the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn text(&mut self) -> String {
        let crabs = "🦀".repeat(self.below(200) + 1);
        let texts = [
            "/etc/passwd",
            "http://127.0.0.1:9/",
            "\u{1b}[2J\u{202e}",
            "'; --",
            "\u{0}",
            &crabs,
        ];
        self.pick(&texts).to_owned()
    }

    /// A value, which is a text only inside of another one.
    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(-1 - self.below(1 << 30) as i64),
            3 => json!(1e300),
            4 => (0..self.below(4)).map(|_| self.inner(depth - 1)).collect(),
            _ => json!({self.pick(&["law_id", "claim", "", "\n", "rule"]): self.inner(depth - 1)}),
        }
    }

    fn inner(&mut self, depth: usize) -> Value {
        if self.below(3) == 0 {
            self.text().into()
        } else {
            self.value(depth)
        }
    }
}

fn request(id: u32, tool: &str, arguments: &Value) -> Value {
    let mut params = json!({"name": tool});
    if !arguments.is_null() {
        params["arguments"] = arguments.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

impl MalformedCalls<'_> {
    /// Returns a line that no client should send.
    fn line(&self, id: u32, numbers: &mut Numbers) -> String {
        let (tool, good) = &self.good;
        match numbers.below(7) {
            0 => {
                let line = request(id, tool, good).to_string();
                let mut end = numbers.below(line.len() - 1);
                while !line.is_char_boundary(end) {
                    end -= 1;
                }
                line[..end].to_owned()
            }
            1 => {
                let near = format!("{tool} ");
                let names = ["shell", "", &near, "\u{1b}]0;x\u{7}", "../check"];
                request(id, numbers.pick(&names), good).to_string()
            }
            2 => {
                let arguments = numbers.value(2);
                let wrong = !arguments.is_object() && !arguments.is_null();
                let arguments = if wrong { arguments } else { json!([arguments]) };
                request(id, tool, &arguments).to_string()
            }
            3 => {
                let key = format!("key_{}", numbers.below(9));
                request(id, tool, &json!({key: numbers.inner(2)})).to_string()
            }
            4 => {
                let mut arguments = good.clone();
                arguments[numbers.pick(self.keys)] = numbers.value(3);
                request(id, tool, &arguments).to_string()
            }
            5 => {
                let (tool, arguments) = numbers.pick(self.refused);
                request(id, tool, &arguments).to_string()
            }
            _ => {
                let methods = [
                    "tools/cal",
                    "files/read",
                    "sampling/createMessage",
                    "\u{1b}",
                ];
                let method = numbers.pick(&methods);
                let params = numbers.inner(2);
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
            }
        }
    }
}

/// Sends that many malformed calls to a server that was opened: each is refused, no file is opened, and the server then takes good ones.
pub fn refuses_malformed_calls(mut wire: Wire, number: u32, calls: &MalformedCalls<'_>) {
    let (tool, arguments) = &calls.good;
    wire.done(2, tool, arguments);
    #[cfg(target_os = "linux")]
    let before = wire.open_files();
    let mut numbers = Numbers(28);
    let (mut refused, mut failed) = (0, 0);
    // After each hundred one good call, so that neither pipe is full of what the other side does not read.
    for hundred in 0..number.div_ceil(100) {
        for call in 0..100 {
            wire.line(&calls.line(1_000 + hundred * 100 + call, &mut numbers));
        }
        let id = 1_000_000 + hundred;
        let (tool, arguments) = &calls.quick;
        wire.call(id, tool, arguments);
        loop {
            let message = wire.message();
            if message["id"] == id {
                assert_eq!(message["result"]["isError"], false, "{message}");
                break;
            }
            match (&message["error"], &message["result"]["isError"]) {
                (Value::Object(_), _) => refused += 1,
                (_, Value::Bool(true)) => failed += 1,
                _ => {
                    let is_progress = message["method"] == "notifications/progress";
                    assert!(is_progress, "{message}");
                }
            }
        }
    }
    assert!(
        refused > number / 5 && failed > number / 3,
        "{refused} refused, {failed} failed"
    );
    #[cfg(target_os = "linux")]
    assert_eq!(wire.open_files(), before);
    wire.close();
}
