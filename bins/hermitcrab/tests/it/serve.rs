//! `serve` as a process: its address, its end, its failures, and the key that a page gives. The tests of hermitcrab-face
//! cover the pages.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, Ran, files, finish, is_running, signal, start};

/// The arguments of a server without a browser and without npm.
const QUIETLY: [&str; 4] = ["serve", "--no-open", "--runtime", "builtin"];
/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);
const MARKER: &str = "the-key-0123456789-marker";

/// A running server.
struct Served {
    child: Option<Child>,
    url: String,
}

impl Served {
    fn new(place: &Place, flags: &[&str]) -> Self {
        Self::by(&mut place.command(&[&QUIETLY, flags].concat()))
    }

    #[track_caller]
    fn by(command: &mut Command) -> Self {
        let mut child = start(command);
        let mut url = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut url).unwrap();
        let url = url.trim_end().to_owned();
        assert!(!url.is_empty(), "it did not start: {:?}", finish(child));
        Self {
            child: Some(child),
            url,
        }
    }

    fn addr(&self) -> SocketAddr {
        let address = self.url.strip_prefix("http://").unwrap();
        address.split('/').next().unwrap().parse().unwrap()
    }

    /// Returns the part of the address after the `#`, which opens one session.
    fn once(&self) -> &str {
        self.url.split_once("/#").unwrap().1
    }

    /// Sends a request in the way of the server's own page, and returns status, head and body.
    fn ask(&self, method: &str, path: &str, more: &str, body: &Value) -> (u16, String, Value) {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let addr = self.addr();
        let mut stream = TcpStream::connect(addr).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nOrigin: http://{addr}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        (status, head.to_owned(), body)
    }

    /// Opens a session and returns the header lines of its requests.
    fn session(&self) -> String {
        let (status, head, body) =
            self.ask("POST", "/session", "", &json!({ "token": self.once() }));
        assert_eq!(status, 200, "{head}\n{body}");
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap().split(';').next().unwrap();
        let token = body["token"].as_str().unwrap();
        format!("Cookie: {cookie}\r\nX-Hermitcrab-Token: {token}\r\n")
    }

    /// Sends Ctrl-C and waits for the end.
    fn end(self) -> Ran {
        self.end_by("-INT")
    }

    fn end_by(mut self, name: &str) -> Ran {
        let child = self.child.take().unwrap();
        signal(child.id(), name);
        finish(child)
    }
}

/// Kills the server if the test fails.
impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(unix)]
/// A limit of the address space leaves room for the compiler.
#[cfg(target_os = "linux")]
#[test]
fn it_starts_in_two_gigabytes() {
    let place = Place::new();
    place.file("face.jsx", "function App() { return <p/>; }");
    let compiled = finish(start(
        &mut place.limited("ulimit -v 1000000", &["compile", "face.jsx"]),
    ));
    assert_eq!(compiled.exits(0).stdout, "App\n");
    let flags = [&QUIETLY[..], &["--provider", "offline"]].concat();
    let served = Served::by(&mut place.limited("ulimit -v 2000000", &flags));
    let (status, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!((status, &health["ok"]), (200, &json!(true)));
    served.end().exits(0);
}

#[test]
fn it_prints_its_address_answers_and_ends_at_ctrl_c() {
    let place = Place::new();
    let served = Served::new(&place, &["--provider", "offline"]);
    let addr = served.addr();
    assert!(addr.ip().is_loopback() && addr.port() > 0, "{addr}");
    assert!(served.once().len() >= 22, "{}", served.url);
    let (status, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(status, 200);
    assert_eq!(
        health,
        json!({
            "ok": true,
            "version": env!("CARGO_PKG_VERSION"),
            "runtime": "built-in subset",
            "offline": "script",
            "pages": 0,
        })
    );
    let ran = served.end().exits(0);
    assert!(!ran.stderr.contains("key"), "{}", ran.stderr);
    // The first start says where the blocks are.
    assert!(
        ran.stderr.contains("first start: created 6 blocks in "),
        "{}",
        ran.stderr
    );
    // What is left can be used.
    place.run(&["block", "list"]).exits(0);
}

#[cfg(unix)]
#[test]
fn sigterm_and_sighup_end_it_as_ctrl_c_does() {
    for name in ["-TERM", "-HUP"] {
        let place = Place::new();
        let served = Served::new(&place, &["--provider", "offline"]);
        served.end_by(name).exits(0);
        place.run(&["block", "list"]).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn without_a_key_the_page_is_asked_and_nobody_goes_offline_by_himself() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let (_, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(health["offline"], Value::Null);
    let ran = served.end().exits(0);
    assert!(
        ran.stderr.contains("there is no key for anthropic"),
        "{}",
        ran.stderr
    );
    // The warning names the provider of the flags.
    let served = Served::new(&place, &["--provider", "openrouter", "--model", "m"]);
    let ran = served.end().exits(0);
    assert!(
        ran.stderr.contains("no key for openrouter"),
        "{}",
        ran.stderr
    );
    // What else is missing no page could give.
    place
        .run(&[&QUIETLY[..], &["--provider", "openrouter"]].concat())
        .exits(2)
        .tells(&["--provider openrouter has no default model; give --model ID"]);
}

#[cfg(unix)]
#[test]
fn a_key_from_the_page_is_used_and_is_on_no_disk() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let session = served.session();
    for (key, why) in [("", "it is empty"), ("two words", "white space")] {
        let (status, _, body) = served.ask("POST", "/api/key", &session, &json!({ "key": key }));
        assert_eq!(status, 400);
        let detail = body["detail"].as_str().unwrap();
        assert!(
            detail.contains(why) && !detail.contains("two words"),
            "{detail}"
        );
    }
    let (status, _, body) = served.ask("POST", "/api/key", &session, &json!({ "key": MARKER }));
    assert_eq!((status, body), (200, json!({ "ok": true })));
    // What holds it by mistake is cleaned of it before it is kept.
    let (status, _, mut bundle) = served.ask("GET", "/api/export", &session, &Value::Null);
    assert_eq!(status, 200, "{bundle}");
    let block = json!({ "decimal": 0, "tree": { "_": format!("my key is {MARKER}") } });
    bundle["blocks"] = json!({ "keyed": { "block": block } });
    let (status, _, body) = served.ask("POST", "/api/import", &session, &bundle);
    assert_eq!(status, 200, "{body}");
    // A second one takes the place of the first.
    let (status, ..) = served.ask("POST", "/api/key", &session, &json!({ "key": MARKER }));
    assert_eq!(status, 200);
    let (status, head, export) = served.ask("GET", "/api/export", &session, &Value::Null);
    assert_eq!(status, 200, "{head}");
    let keyed = &export["blocks"]["keyed"]["block"]["tree"];
    assert!(keyed.to_string().contains("my key is"), "{keyed}");
    assert!(!export.to_string().contains(MARKER));
    let ran = served.end().exits(0);
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(MARKER), "{text}");
    }
    for file in files(&place.path("data")) {
        let bytes = fs::read(&file).unwrap();
        assert!(
            !bytes
                .windows(MARKER.len())
                .any(|part| part == MARKER.as_bytes()),
            "{}",
            file.display()
        );
    }
}

#[test]
fn offline_by_choice_takes_no_key() {
    let place = Place::new();
    let served = Served::new(&place, &["--provider", "offline"]);
    let session = served.session();
    let (status, _, body) = served.ask("POST", "/api/key", &session, &json!({ "key": MARKER }));
    assert_eq!(status, 400);
    assert!(
        body["detail"]
            .as_str()
            .unwrap()
            .contains("--provider offline")
    );
}

#[test]
fn a_port_that_was_named_and_is_taken_is_an_error() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = place.run(&[&QUIETLY[..], &["--provider", "offline", "--port", &port]].concat());
    ran.exits(1).tells(&[&format!("port {port}"), "--port"]);
    // A free one that was named is taken.
    drop(taken);
    let served = Served::new(&place, &["--provider", "offline", "--port", &port]);
    assert_eq!(served.addr().port().to_string(), port);
}

#[test]
fn a_data_directory_belongs_to_one_server() {
    let place = Place::new();
    let served = Served::new(&place, &["--provider", "offline"]);
    place
        .run(&[&QUIETLY[..], &["--provider", "offline"]].concat())
        .exits(2)
        .tells(&["locked by pid"]);
    // Reading works meanwhile.
    place.run(&["block", "list"]).exits(0);
    drop(served);
}

#[test]
fn flags_that_cannot_be_used() {
    let place = Place::new();
    for flags in [
        &["--safe", "--fresh"][..],
        &["--port", "70000"],
        &["--runtime", "vue"],
        &["--grant", "nowhere"],
        &["--provider", "offline", "--base-url", "http://127.0.0.1:9"],
    ] {
        place
            .run(&[&["serve", "--no-open"], flags].concat())
            .exits(2);
    }
    // Nothing was made.
    assert!(!place.path("data").exists());
}

/// Writes a program of a fake search path.
#[cfg(unix)]
fn program(place: &Place, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let name = format!("programs/{name}");
    place.file(&name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(place.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns a server that looks for React by the programs of the fake search path alone.
#[cfg(unix)]
fn searching(place: &Place, flags: &[&str]) -> Command {
    let all = [&["serve", "--no-open", "--provider", "offline"], flags].concat();
    let mut command = place.command(&all);
    command.env("PATH", place.path("programs"));
    command
}

/// The file with what a running server says.
#[cfg(unix)]
const SAID: &str = "said";

/// Lets a command write to [`SAID`] what it says.
#[cfg(unix)]
fn telling<'a>(place: &Place, command: &'a mut Command) -> &'a mut Command {
    command.stderr(fs::File::create(place.path(SAID)).unwrap())
}

/// Waits until all of this holds.
#[cfg(unix)]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn runtime_that_no_client_brings_is_the_built_in_one_and_is_not_tried_again() {
    let place = Place::new();
    let asked =
        "echo \"${0##*/}[$ANTHROPIC_API_KEY$HERMITCRAB_API_KEY]\" >> \"$HOME/asked\"; exit 1";
    program(&place, "npm", asked);
    program(&place, "python3", asked);
    let lines = || fs::read_to_string(place.path("asked")).unwrap_or_default();
    let note = place.path("data/runtime/tried.json");
    let serve = |flags: &[&str]| {
        let mut command = searching(&place, flags);
        command.env("ANTHROPIC_API_KEY", MARKER);
        command.env("HERMITCRAB_API_KEY", MARKER);
        command
    };
    let served = Served::by(&mut serve(&[]));
    until("both clients are asked", || note.exists());
    let (_, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(health["runtime"], "built-in subset");
    served
        .end()
        .exits(0)
        .tells(&["built-in subset", "npm", "pip"]);
    // Neither of them gets a key.
    assert_eq!(lines(), "npm[]\npython3[]\n");

    let status = place.json(&["runtime", "status"]);
    assert_eq!(status["state"], "missing");
    let why = status["tried"]["npm"].as_str().unwrap();
    assert!(why.contains("exit status: 1"), "{status}");

    // The second start looks for React and does not ask them; a person who asks for React, or fetches it, does.
    let kept = fs::read(&note).unwrap();
    let served = Served::by(telling(&place, &mut serve(&[])));
    until("it has looked", || {
        place.read(SAID).contains("a start does after a day")
    });
    served.end().exits(0);
    assert_eq!(lines(), "npm[]\npython3[]\n");
    assert_eq!(fs::read(&note).unwrap(), kept);
    let ran = finish(start(&mut serve(&["--runtime", "react"])));
    ran.exits(1).tells(&["npm", "--runtime builtin"]);
    assert_eq!(lines().lines().count(), 4);
    let mut fetch = place.command(&["runtime", "fetch", "--to", "react"]);
    fetch.env("PATH", place.path("programs"));
    finish(start(&mut fetch)).exits(1).tells(&["npm", "pip"]);
    assert_eq!(lines().lines().count(), 6);
    assert!(place.path("react/runtime/tried.json").exists());
}

#[test]
fn runtime_from_a_folder_must_have_the_right_hash() {
    let place = Place::new();
    for file in ["react.production.min.js", "react-dom.production.min.js"] {
        place.file(&format!("mine/umd/{file}"), "not React\n");
    }
    for words in [
        &[
            "serve",
            "--no-open",
            "--provider",
            "offline",
            "--react",
            "mine",
        ][..],
        &["runtime", "fetch", "--react", "mine"],
    ] {
        let ran = place.run(words).exits(2);
        ran.tells(&["react.production.min.js", "has sha256", "expected d949f1c3"]);
    }
    // Nothing was made.
    assert!(!place.path("data").exists());
}

/// The address is printed and pages are served while npm waits for a registry that does not answer; npm ends with the program,
/// and so does what it started.
#[cfg(unix)]
#[test]
fn runtime_that_npm_never_brings_is_not_waited_for() {
    let place = Place::new();
    let script = "/bin/sleep 600 & echo $$ $! > \"$HOME/npm.pid\"; /bin/sleep 600";
    program(&place, "npm", script);
    let served = Served::by(&mut searching(&place, &[]));
    let pids = || -> Vec<u32> {
        let text = fs::read_to_string(place.path("npm.pid")).unwrap_or_default();
        let numbers = text.split_whitespace().map(|pid| pid.parse().unwrap());
        numbers.collect()
    };
    until("npm is started", || pids().len() == 2);
    let (status, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(
        (status, &health["runtime"]),
        (200, &json!("built-in subset"))
    );
    let pids = pids();
    assert!(pids.iter().all(|pid| is_running(*pid)));
    served.end_by("-TERM").exits(0);
    until("npm and its child end", || {
        !pids.iter().any(|pid| is_running(*pid))
    });
}

/// A second program that installs React in the same place is waited for. When it has ended without React, npm is asked again.
#[cfg(unix)]
#[test]
fn runtime_that_another_process_installs_is_looked_for_again() {
    let place = Place::new();
    let script = "cd; echo npm >> asked; while [ -e asked ] && [ ! -e go ]; do /bin/sleep 0.02; done; exit 1";
    program(&place, "npm", script);
    program(&place, "python3", "exit 1");
    let mut fetch = place.command(&["runtime", "fetch"]);
    let fetching = start(fetch.env("PATH", place.path("programs")));
    until("npm is started", || place.path("asked").exists());
    let served = Served::by(telling(&place, &mut searching(&place, &[])));
    let says = |words: &str| place.read(SAID).contains(words);
    until("it waits", || says("another process installs React"));
    assert!(!says("built-in subset"), "it gave up");
    signal(fetching.id(), "-INT");
    finish(fetching).exits(130);
    place.file("go", "");
    until("it has looked again", || says("built-in subset"));
    assert!(says("npm could not install React"), "{}", place.read(SAID));
    assert_eq!(place.read("asked"), "npm\nnpm\n");
    served.end().exits(0);
}
