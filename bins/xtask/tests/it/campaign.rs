//! `cargo xtask campaign`: the cap, the key, the cut, and the replay, with a program of this workspace and with scripts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use test_support::{Answer, CannedReply, CompressionStub, FaultServer, StubMode};

use crate::gate::program;
use crate::packages::root;

const KEY: &str = "sk-ant-a-key-that-is-nowhere";

/// A `cargo` that says where the workspace is; builds do nothing.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  metadata*) echo "{\"workspace_root\": \"$PLACE\", \"target_directory\": \"$PLACE/target\"}" ;;
esac
exit 0
"#;

/// A repository with the recipes of this one.
struct Place {
    folder: tempfile::TempDir,
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Place {
    /// A repository whose program is the one of this workspace.
    fn new() -> Self {
        let place = Self::empty();
        let recipes = root().join("fixtures/campaigns");
        place.copy(&recipes.join("small.json"), "fixtures/campaigns/small.json");
        let rules = "small/telegram.txt";
        place.copy(
            &recipes.join(rules),
            "fixtures/campaigns/small/telegram.txt",
        );
        symlink(zer0gravity(), place.path("target/debug/zer0gravity")).unwrap();
        place
    }

    fn empty() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(place.path("target/debug")).unwrap();
        program(&place.path("cargo"), CARGO);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn copy(&self, from: &Path, name: &str) {
        let to = self.path(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }

    fn campaign(&self, arguments: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("campaign")
            .args(arguments)
            .current_dir(self.folder.path())
            .env("PLACE", self.folder.path())
            .env("CARGO", self.path("cargo"))
            .env("HOME", self.folder.path())
            .env("ANTHROPIC_API_KEY", KEY)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The campaign `small` at this server, in the folder `kept`.
    fn small(&self, url: &str, flags: &[&str]) -> Ended {
        let base = ["small", "--base-url", url, "--dir", "kept"];
        self.campaign(&[&base, flags].concat())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

/// The program next to the one under test; built if no other test needed it.
fn zer0gravity() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("zer0gravity");
    if !path.is_file() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--locked", "--workspace", "--bin", "zer0gravity"];
        let status = Command::new(cargo).args(build).current_dir(root()).status();
        assert!(status.unwrap().success());
    }
    path
}

const KEPT: [&str; 5] = [
    "README.md",
    "cassette.jsonl",
    "recipe.json",
    "report.html",
    "result.json",
];

#[test]
fn a_campaign_leaves_no_key_and_is_made_again_anywhere() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ended = place.small(&stub.url(), &["--yes"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(place.names("kept"), KEPT);
    let label = "recorded from claude-sonnet-4-5-20250929 via anthropic on ";
    assert!(ended.stdout.contains(label), "{}", ended.stdout);
    for name in ["README.md", "report.html", "result.json"] {
        assert!(
            place.read(&format!("kept/{name}")).contains(label),
            "{name}"
        );
    }
    for name in KEPT {
        assert!(!place.read(&format!("kept/{name}")).contains(KEY), "{name}");
    }
    assert_eq!(
        place.json("kept/result.json")["results"]["status"]["scored"],
        2
    );
    let requests = stub.stats().calls;
    drop(stub);
    assert!(requests > 0);
    // In another place, another zone, and without a server.
    let other = Place::new();
    fs::create_dir(other.path("kept")).unwrap();
    for name in KEPT {
        other.copy(
            &place.path(&format!("kept/{name}")),
            &format!("kept/{name}"),
        );
    }
    let ended = other.campaign(&["--replay", "kept"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains(": replayed, the same bytes; recorded from ")
    );
    assert_eq!(other.names("kept"), KEPT);
    // One byte of any file that is made.
    for name in ["README.md", "report.html", "result.json"] {
        let path = other.path(&format!("kept/{name}"));
        let text = fs::read(&path).unwrap();
        let mut changed = text.clone();
        let last = changed.len() - 2;
        changed[last] ^= 1;
        fs::write(&path, changed).unwrap();
        let ended = other.campaign(&["--replay", "kept"]);
        assert_eq!(ended.code, Some(4), "{name}: {}", ended.stderr);
        let told = format!("{name} differs from line ");
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
        fs::write(&path, text).unwrap();
    }
    // A changed answer changes what is made of it.
    let cassette = other.read("kept/cassette.jsonl");
    let later = cassette.replacen("\"t\":\"2", "\"t\":\"3", 1);
    assert_ne!(later, cassette);
    fs::write(other.path("kept/cassette.jsonl"), later).unwrap();
    assert_eq!(other.campaign(&["--replay", "kept"]).code, Some(4));
}

#[test]
fn without_a_terminal_or_yes_nothing_is_sent() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ended = place.small(&stub.url(), &[]);
    assert_eq!(ended.code, Some(2));
    let told = "Send about 10 calls, expected $0.0";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert!(ended.stderr.contains("give --yes"), "{}", ended.stderr);
    assert_eq!(
        (stub.stats().calls, place.path("kept").exists()),
        (0, false)
    );
}

#[test]
fn wrong_words_are_usage_errors() {
    let place = Place::new();
    for (arguments, told) in [
        (
            &["small", "--max-usd", "much", "--yes"][..],
            "--max-usd much: expected dollars",
        ),
        (&["nowhere", "--yes"], "no recipe "),
        (&["../small", "--yes"], "no recipe "),
        (&["all", "--yes"], "need --local"),
        (&[], "name one campaign: popper, "),
        (&["--replay", "nowhere"], "recipe.json is missing"),
    ] {
        let ended = place.campaign(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
    assert!(!place.path("experiments").exists());
}

/// The price of a million tokens of the model's replies in dollars.
const REPLY_PRICE: f64 = 15.0;

/// A server whose first replies are cut or say no usage; the later ones are whole.
fn faulty(faults: usize) -> FaultServer {
    FaultServer::play(move |received| {
        if received.path.ends_with("count_tokens") {
            return Answer::json(200, r#"{"input_tokens": 40}"#);
        }
        let reply = CannedReply::text("Words.").anthropic_json();
        let number = received.number;
        if number >= faults {
            return Answer::json(200, reply);
        }
        if number % 2 == 0 {
            let half = reply[..reply.len() / 2].to_owned();
            let length = reply.len().to_string();
            let head = Answer::head(200, "application/json");
            return head.header("content-length", &length).bytes(half).close();
        }
        let mut without: Value = serde_json::from_str(&reply).unwrap();
        without.as_object_mut().unwrap().remove("usage");
        Answer::json(200, without.to_string())
    })
}

#[test]
fn the_cap_is_kept_with_cut_replies_and_without_usage_and_the_same_command_continues() {
    const CAP: f64 = 0.02;
    let (place, server) = (Place::new(), faulty(usize::MAX));
    let ended = place.small(&server.url(""), &["--yes", "--max-usd", "0.02"]);
    assert_eq!(ended.code, Some(130), "{}\n{}", ended.stdout, ended.stderr);
    let spent: f64 = place.json("kept/recipe.json")["record"]["spent_usd"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(spent > 0.0 && spent <= CAP, "{spent}");
    // The highest bill of the server: each reply as long as it may be.
    let requests = server.requests();
    let billed = requests
        .iter()
        .map(|received| received.json()["max_tokens"].clone());
    let tokens: f64 = billed.filter_map(|tokens| tokens.as_f64()).sum();
    assert!(tokens * REPLY_PRICE / 1e6 <= CAP, "{tokens} tokens");
    let cut = format!("; cut at ${spent} after ");
    assert!(ended.stdout.contains(&cut), "{}", ended.stdout);
    assert!(place.read("kept/README.md").contains(&cut));
    assert!(place.path("kept/live").is_dir());
    drop(server);
    // The server is at another address, which a run that continues keeps: the folder says so.
    let before = place.read("kept/cassette.jsonl");
    let again = place.small("http://127.0.0.1:9", &["--yes", "--max-usd", "0.02"]);
    assert_eq!(again.code, Some(130), "{}", again.stderr);
    assert_eq!(place.read("kept/cassette.jsonl"), before);
}

#[test]
fn a_campaign_that_was_cut_continues_with_what_is_left() {
    let place = Place::new();
    let stub = CompressionStub::start(StubMode::Ok);
    let ended = place.small(&stub.url(), &["--yes", "--max-usd", "0.004"]);
    assert_eq!(ended.code, Some(130), "{}\n{}", ended.stdout, ended.stderr);
    let first = stub.stats().calls;
    let ended = place.small(&stub.url(), &["--yes", "--max-usd", "1"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("cut at"), "{}", ended.stdout);
    assert_eq!(place.names("kept"), KEPT);
    // No call was made twice.
    let whole = Place::new();
    let other = CompressionStub::start(StubMode::Ok);
    assert_eq!(whole.small(&other.url(), &["--yes"]).code, Some(0));
    assert!(first < other.stats().calls);
    assert_eq!(stub.stats().calls, other.stats().calls);
    let ended = place.campaign(&["--replay", "kept"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // Finished is finished.
    let ended = place.small(&stub.url(), &["--yes"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("this campaign is finished"));
}

/// Talks, and has no cost before its first line: it keeps each line, records a call, and is interrupted by the word `stop` as long as the file `stops` exists.
const TALKER: &str = r#"#!/bin/sh
case "$1" in
  cost) [ -e talk ] || exit 2; echo "{\"usd\": $(wc -l < talk)}"; exit 0 ;;
esac
read -r line
echo "$line" >> talk
for word; do
  [ "$word" = --record ] && echo "{\"schema_version\":1,\"root\":\"$line\",\"n\":0,\"final_hint\":true,\"provider\":\"p\",\"model\":\"m\",\"t\":\"2026-01-02T03:04:05Z\",\"response\":{\"body\":{\"model\":\"m-1\"}}}" >> ../cassette.jsonl
done
if [ "$line" = stop ] && [ -e "$PLACE/stops" ]; then exit 130; fi
echo "you said $line; before: $(tr '\n' ' ' < talk)"
"#;

const TALK: &str = r#"{
  "schema_version": 1, "world": "talk", "question": "Q?", "limits": ["L."],
  "asks": {"provider": "p", "model": "m"}, "calls": 3, "files": ["lines.json"],
  "steps": [{"run": ["talker", "chat"], "lines": "lines.json", "flags": "model",
    "spent": {"run": ["talker", "cost"], "field": "/usd", "path": "talk"}}],
  "results": {"cost": ["talker", "cost"]}, "page": "conversation.txt"
}"#;

#[test]
fn a_line_that_was_interrupted_is_said_again_in_the_folder_as_it_was_before() {
    let place = Place::empty();
    program(&place.path("target/debug/talker"), TALKER);
    fs::create_dir_all(place.path("fixtures/campaigns/talk")).unwrap();
    fs::write(place.path("fixtures/campaigns/talk.json"), TALK).unwrap();
    let lines = r#"[{"say": "one"}, {"say": "stop", "expect": "one stop"}, {"say": "three", "expect": "four"}]"#;
    fs::write(place.path("fixtures/campaigns/talk/lines.json"), lines).unwrap();
    fs::write(place.path("stops"), "").unwrap();
    let arguments = ["talk", "--yes", "--dir", "kept", "--max-usd", "100"];
    let ended = place.campaign(&arguments);
    assert_eq!(ended.code, Some(130), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains("cut at $2.00 after 2 of 3 calls"),
        "{}",
        ended.stdout
    );
    fs::remove_file(place.path("stops")).unwrap();
    let ended = place.campaign(&arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    // The interrupted line is paid for, and neither in the conversation nor in the cassette.
    assert!(
        ended
            .stdout
            .contains("recorded from m-1 via p on 2026-01-02, $4.00\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(place.read("kept/cassette.jsonl").lines().count(), 3);
    let said = place.read("kept/conversation.txt");
    assert!(
        said.starts_with("recorded from m-1 via p on 2026-01-02, $4.00\n\n> one\nyou said one; "),
        "{said}"
    );
    assert!(
        said.ends_with("> three\nyou said three; before: one stop three \n\n"),
        "{said}"
    );
    let answers = &place.json("kept/result.json")["expected_answers"];
    assert_eq!((&answers["met"], &answers["of"]), (&1.into(), &2.into()));
    assert_eq!(place.campaign(&["--replay", "kept"]).code, Some(0));
}

#[test]
fn the_kept_campaign_is_made_again() {
    let place = Place::new();
    let kept = root().join("fixtures/campaigns/kept");
    let kept = kept.to_str().unwrap();
    let ended = place.campaign(&["--replay", kept]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("; shape only: a 135-million-parameter model")
    );
}
