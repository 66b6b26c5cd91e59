//! The time that the protocol adds to a call of `popper mcp`, and the time until a cancelled call frees the server.
//!
//! `cargo bench -p popper --bench mcp -- [CALLS]` talks to a server over pipes, and prints one JSON object: milliseconds of a call whose
//! work takes microseconds, of the same work as a command, and from a cancellation to the answer of the next call.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

/// Calls, unless the command line says otherwise.
const CALLS: usize = 2000;
/// Cancelled calls, and runs of the command.
const ROUNDS: usize = 40;

fn popper(arguments: &[&str]) -> Command {
    let mut popper = Command::new(env!("CARGO_BIN_EXE_popper"));
    popper.args(arguments).stdout(Stdio::piped());
    popper
}

/// A server and the pipes to it.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The id of the last request.
    id: u32,
}

impl Server {
    fn start() -> Self {
        let mut child = popper(&["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut server = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            id: 0,
        };
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        server.ask("initialize", &params);
        server.answer();
        server.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        let token = self.id + 1;
        let params =
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        self.ask("tools/call", &params);
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Reads up to the answer to the last request.
    fn answer(&mut self) {
        while self.read()["id"] != self.id {}
    }

    fn end(mut self) {
        drop(self.stdin);
        self.child.wait().unwrap();
    }
}

/// A law that is proved at once, and laws that take many seconds: they speak of t, so nothing proves them.
fn endless() -> Value {
    let law = |name: String, claim: String| {
        json!({
            "law_id": name, "template": "bound", "quantifiers": {"T": 900},
            "observables": [{"name": "x", "expr": "count('>')"}, {"name": "g", "expr": "max_gap('>')"}],
            "claim": claim, "forbidden": "more",
        })
    };
    let quick = law("quick".to_owned(), "x(t) <= grid_length".to_owned());
    let others = (0..49).map(|n| law(format!("endless_{n}"), format!("g(t) <= {} + t", 100 + n)));
    std::iter::once(quick).chain(others).collect()
}

/// Median and worst of milliseconds.
fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |index: usize| (times[index] * 1000.0).round() / 1000.0;
    json!({"median_ms": at(times.len() / 2), "worst_ms": at(times.len() - 1)})
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

fn main() {
    let calls = std::env::args().find_map(|word| word.parse().ok());
    let calls = calls.unwrap_or(CALLS);
    let mut server = Server::start();
    let simulate = json!({"start": ">.<.", "steps": 1});
    let timed = (0..calls).map(|_| {
        let begin = Instant::now();
        server.call("simulate", &simulate);
        server.answer();
        milliseconds(begin)
    });
    let timed: Vec<f64> = timed.collect();
    let commands = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        popper(&["simulate", ">.<.", "-n", "1"]).output().unwrap();
        milliseconds(begin)
    });
    let commands: Vec<f64> = commands.collect();
    let laws = json!({"laws": endless(), "exhaustive_n": 14});
    let cancelled = (0..ROUNDS).map(|_| {
        server.call("check", &laws);
        // The first law is decided, so another one runs.
        assert_eq!(server.read()["method"], "notifications/progress");
        let begin = Instant::now();
        let params = json!({"requestId": server.id});
        server.write(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        server.call("simulate", &simulate);
        server.answer();
        milliseconds(begin)
    });
    let cancelled: Vec<f64> = cancelled.collect();
    server.end();
    let report = json!({
        "call": spread(timed), "command": spread(commands), "after a cancellation": spread(cancelled),
    });
    println!("{report:#}");
}
