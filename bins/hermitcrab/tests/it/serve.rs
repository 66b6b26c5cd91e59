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

#[cfg(unix)]
#[test]
fn without_npm_faces_run_on_what_is_built_in() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    let command = |flags: &[&str]| {
        let mut command =
            place.command(&[&["serve", "--no-open", "--provider", "offline"], flags].concat());
        command.env("PATH", place.path("empty"));
        command
    };
    let served = Served::by(&mut command(&[]));
    let (_, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(health["runtime"], "built-in subset");
    served.end().exits(0).tells(&["built-in subset", "npm"]);
    let ran = finish(start(&mut command(&["--runtime", "react"])));
    ran.exits(1).tells(&["npm", "--runtime builtin"]);
}

/// The address is printed and pages are served while npm waits for a registry that does not answer; npm ends with the program.
#[cfg(unix)]
#[test]
fn h16_npm_is_not_waited_for() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let npm = "#!/bin/sh\necho $$ > \"$HOME/npm.pid\"\nexec /bin/sleep 600\n";
    place.file("programs/npm", npm);
    let program = place.path("programs/npm");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["serve", "--no-open", "--provider", "offline"]);
    let served = Served::by(command.env("PATH", place.path("programs")));
    let pid = place.path("npm.pid");
    let begun = Instant::now();
    while fs::read_to_string(&pid).unwrap_or_default().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "npm was not started");
        thread::sleep(Duration::from_millis(5));
    }
    let (status, _, health) = served.ask("GET", "/health", "", &Value::Null);
    assert_eq!(
        (status, &health["runtime"]),
        (200, &json!("built-in subset"))
    );
    let pid = fs::read_to_string(&pid).unwrap();
    served.end().exits(0);
    let begun = Instant::now();
    let pid = pid.trim().parse().unwrap();
    while is_running(pid) {
        assert!(begun.elapsed() < PATIENCE, "npm was left running");
        thread::sleep(Duration::from_millis(5));
    }
}
