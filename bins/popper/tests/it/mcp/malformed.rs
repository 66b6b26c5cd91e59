//! Calls that no client should make: each has an error, and the server survives all.

use serde_json::{Value, json};

use super::wire::Wire;
use crate::process::law;

const CALLS: u32 = 10_000;

/// A sequence of numbers that looks random and is the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    /// A value that no tool takes, unless as a state.
    fn junk(&mut self, depth: u32) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(-1_i64 - self.below(1 << 30) as i64),
            3 => json!(1e300),
            4 => json!(self.pick(&[
                "/etc/passwd",
                "http://127.0.0.1:9/",
                "\u{1b}[2J\u{202e}",
                "'; --",
                "\u{0}"
            ])),
            5 => json!("🦀".repeat(self.below(200) as usize + 1)),
            6 => Value::Array((0..self.below(4)).map(|_| self.junk(depth - 1)).collect()),
            _ => json!({self.pick(&["law_id", "claim", "", "\n", "rule"]): self.junk(depth - 1)}),
        }
    }
}

/// Returns a line that no client should send.
fn malformed(id: u32, numbers: &mut Numbers) -> String {
    let tools = ["check", "simulate", "explain", "span"];
    let good = json!({"laws": [law("a")], "exhaustive_n": 4, "detail": "short"});
    let (mut tool, mut arguments) = (numbers.pick(&tools), Value::Null);
    match numbers.below(9) {
        0 => {
            let line = request(id, "check", &good).to_string();
            let mut end = numbers.below(line.len() as u64 - 1) as usize;
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            return line[..end].to_owned();
        }
        1 => {
            tool = numbers.pick(&["shell", "", "check ", "\u{1b}]0;x\u{7}", "../check"]);
        }
        2 => {
            arguments = numbers.junk(2);
            if arguments.is_object() || arguments.is_null() {
                arguments = json!([arguments]);
            }
        }
        3 => arguments = json!({format!("key_{}", numbers.below(9)): numbers.junk(2)}),
        4 => {
            tool = "check";
            arguments = good;
            let key = numbers.pick(&[
                "laws",
                "universe",
                "seed",
                "exhaustive_n",
                "budget",
                "detail",
            ]);
            arguments[key] = numbers.junk(3);
            if key == "budget" && arguments[key].is_null() {
                arguments[key] = json!(20_000_000_001_u64);
            }
        }
        5 => {
            (tool, arguments) = numbers.pick(&[
                ("simulate", json!({"start": ".", "steps": 1001})),
                ("simulate", json!({"start": ".".repeat(4097)})),
                ("span", json!({"width": 5})),
                ("check", json!({"laws": []})),
                ("check", json!({"laws": [law("a")], "exhaustive_n": 15})),
            ]);
        }
        6 => {
            let mut wrong = law("wrong");
            let key = numbers.pick(&["template", "quantifiers", "observables", "forbidden"]);
            wrong[key] = numbers.junk(3);
            if matches!(wrong[key], Value::Null | Value::String(_) | Value::Array(_)) {
                wrong[key] = json!(-1);
            }
            tool = "check";
            arguments = json!({"laws": [wrong]});
        }
        7 => {
            tool = "explain";
            arguments = json!({"counterexample": {"initial_state": numbers.junk(2), "config": numbers.junk(3)}});
        }
        _ => {
            let method = numbers.pick(&[
                "tools/cal",
                "files/read",
                "sampling/createMessage",
                "\u{1b}",
            ]);
            let message =
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": numbers.junk(2)});
            return message.to_string();
        }
    }
    request(id, tool, &arguments).to_string()
}

fn request(id: u32, tool: &str, arguments: &Value) -> Value {
    let mut params = json!({"name": tool});
    if !arguments.is_null() {
        params["arguments"] = arguments.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn ten_thousand_malformed_calls_open_nothing_and_are_all_refused() {
    let mut wire = Wire::start();
    wire.open();
    wire.call(2, "check", &json!({"laws": [law("a")], "exhaustive_n": 4}));
    assert_eq!(wire.answer(2)["result"]["isError"], false);
    #[cfg(target_os = "linux")]
    let before = wire.open_files();
    let mut numbers = Numbers(28);
    let (mut refused, mut failed) = (0, 0);
    // After each hundred one good call, so that neither pipe is full of what the other side does not read.
    for hundred in 0..CALLS / 100 {
        for call in 0..100 {
            wire.line(&malformed(1_000 + hundred * 100 + call, &mut numbers));
        }
        let id = 1_000_000 + hundred;
        wire.call(id, "simulate", &json!({"start": ">.<"}));
        loop {
            let message = wire.next();
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
    assert!(refused > 2_000 && failed > 4_000, "{refused} {failed}");
    #[cfg(target_os = "linux")]
    assert_eq!(wire.open_files(), before);
    wire.close();
}
