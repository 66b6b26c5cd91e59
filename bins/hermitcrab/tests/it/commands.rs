//! The commands `prompt`, `compile`, `shells`, `doctor` and `cost`, and the help of all commands.

use serde_json::{Value, json};
use test_support::{Answer, FaultServer};

use crate::model::{KEY, VARIABLE};
use crate::program::{Place, Ran, finish, start};

/// The commands that use no data directory, or whose help is that of all programs.
const WITHOUT_DATA: [&str; 5] = ["compile", "demo", "completions", "man", "paths"];

/// All commands, with the commands inside of commands.
const COMMANDS: [&str; 45] = [
    "chat",
    "prompt",
    "serve",
    "compile",
    "demo",
    "shells",
    "shells list",
    "shells use",
    "shells show",
    "cost",
    "trace",
    "doctor",
    "prune",
    "runtime",
    "export",
    "import",
    "migrate",
    "key",
    "key set",
    "key clear",
    "key status",
    "mcp",
    "completions",
    "man",
    "paths",
    "block",
    "block read",
    "block write",
    "block append",
    "block list",
    "block create",
    "block grow",
    "block mv",
    "block rm",
    "block search",
    "block export",
    "block import",
    "block log",
    "block review",
    "block undo",
    "block redo",
    "block lint",
    "block diff",
    "memory",
    "memory audit",
];

/// Returns a place with two faces and a memory, which the offline script makes.
fn lived_in() -> Place {
    let place = Place::new();
    let lines = b"remember: the keel is laid\nbreak\nbigger text\n";
    place.fed(lines, &["chat"]).exits(0);
    place
}

/// Removes the times of this run.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                *field = if name == "at" {
                    json!("[at]")
                } else {
                    timeless(field.take())
                };
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let all = place.run(&["--help"]).exits(0).stdout;
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = place.run(&words).exits(0).stdout;
        assert!(
            help.contains(&format!("hermitcrab {command}")),
            "{command}: {help}"
        );
        assert!(
            help.lines().next().is_some_and(|line| line.len() > 10),
            "{command}"
        );
        let uses_data = !WITHOUT_DATA.contains(&command);
        assert_eq!(help.contains("--data <DIR>"), uses_data, "{command}");
        if !command.contains(' ') {
            assert!(all.contains(&format!("\n  {command} ")), "{command}\n{all}");
        }
    }
    // And the list above has all that the program has.
    let listed = |help: &str| -> Vec<String> {
        let rest = help.split_once("Commands:\n").unwrap().1;
        let lines = rest.lines().take_while(|line| line.starts_with("  "));
        let names = lines.filter(|line| !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        names
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let mut found = listed(&all);
    for outer in ["block", "key", "memory", "shells"] {
        let help = place.run(&[outer, "--help"]).exits(0).stdout;
        found.extend(listed(&help).iter().map(|inner| format!("{outer} {inner}")));
    }
    found.sort();
    let mut known = COMMANDS.map(str::to_owned);
    known.sort();
    assert_eq!(found, known);
}

/// The model flags, each with a valid value.
const MODEL_FLAGS: [&str; 7] = [
    "--provider=offline",
    "--base-url=http://127.0.0.1:9",
    "--model=m",
    "--record=r",
    "--replay=r",
    "--max-usd=1",
    "--concurrency=1",
];

#[test]
fn model_flags_stand_with_every_command() {
    let place = Place::with_data();
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').collect();
        let before = [&MODEL_FLAGS, &words[..], &["--help"]].concat();
        let after = [&words[..], &MODEL_FLAGS, &["--help"]].concat();
        let help = place.run(&before).exits(0).stdout;
        assert_eq!(place.run(&after).exits(0).stdout, help, "{command}");
        let uses = matches!(command, "chat" | "serve" | "doctor" | "prompt");
        for flag in MODEL_FLAGS {
            let name = flag.split('=').next().unwrap();
            // A request that is printed costs nothing.
            let uses = uses && (command, name) != ("prompt", "--max-usd");
            // The provider of `key set` is the one whose key it is.
            let shown = uses || (command == "key set" && name == "--provider");
            assert_eq!(
                help.contains(&format!("{name} <")),
                shown,
                "{command} {name}"
            );
        }
    }
    // They run with commands that ask no model, and reach those that do.
    let offline = ["--provider", "offline"];
    for words in [&["prompt", "--phase", "call"][..], &["block", "list"]] {
        place.run(&[&offline, words].concat()).exits(0);
        place.run(&[words, &offline].concat()).exits(0);
    }
    for words in [&["chat"][..], &["doctor"]] {
        let flags = ["--provider", "generic"];
        for line in [[&flags, words].concat(), [words, &flags].concat()] {
            let ran = place.run(&line);
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(told.contains("--base-url"), "{line:?}: {told}");
        }
    }
    let key = ["key", "set", "--file"];
    let openai = ["--provider", "openai"];
    for line in [[&openai[..], &key].concat(), [&key[..], &openai].concat()] {
        place.fed(KEY.as_bytes(), &line).exits(0);
        assert!(place.read("data/keys.env").contains("OPENAI_API_KEY"));
        place.run(&["key", "clear"]).exits(0);
    }
}

#[test]
fn what_is_no_command_is_a_usage_error() {
    let place = Place::new();
    for arguments in [
        &["chatt"][..],
        &["chat", "hello"],
        &["prompt", "--phase", "dream"],
        &["shells", "use"],
        &["shells", "use", "x"],
        &["compile"],
        &["chat", "--max-usd", "-1"],
        &["chat", "--provider", "nobody"],
        &["chat", "--grant", "nothere"],
    ] {
        place.run(arguments).exits(2);
    }
    assert!(!place.path("data/blocks").exists());
}

#[test]
fn the_prompt_of_a_start() {
    let place = Place::with_data();
    let told = place.run(&["prompt", "--phase", "boot"]).exits(0).stdout;
    let layers: Vec<_> = (told.lines())
        .filter(|line| line.starts_with("== "))
        .collect();
    let names = [
        "keystone",
        "constitution",
        "capabilities",
        "skills",
        "network",
        "memory",
    ];
    assert_eq!(
        layers,
        names.map(|name| format!("== block {name} (decimal 1)"))
    );
    let tools = told.lines().find(|line| line.starts_with('[')).unwrap();
    let tools: Vec<Value> = serde_json::from_str(tools).unwrap();
    assert_eq!(tools.len(), 7);
    // Looking makes nothing.
    assert!(place.names("data").is_empty());
}

#[test]
fn the_prompt_of_a_turn() {
    let place = lived_in();
    let told = place.run(&["prompt", "--phase", "call"]).exits(0).stdout;
    let (system, _) = told.split_once("\n[").unwrap();
    insta::assert_snapshot!("prompt_call", system);
    let document = place.json(&["prompt", "--phase", "call"]);
    let fields: Vec<_> = document.as_object().unwrap().keys().collect();
    insta::assert_json_snapshot!("prompt_json_fields", fields);
    assert!(told.starts_with(document["cached"].as_str().unwrap()));
    assert!(
        document["memory"]
            .as_str()
            .unwrap()
            .contains("the keel is laid")
    );
}

#[test]
fn the_tokens_of_the_prompts_are_within_their_limits() {
    let place = Place::with_data();
    for phase in ["boot", "call"] {
        let arguments = ["prompt", "--phase", phase, "--tokens"];
        let told = place.run(&arguments).exits(0).stdout;
        let rows: Vec<(&str, [u32; 2])> = (told.lines().skip(1))
            .filter_map(|line| {
                let (rest, limit) = line.rsplit_once(' ')?;
                let (name, tokens) = rest.trim_end().rsplit_once(' ')?;
                let numbers = [tokens.parse().ok()?, limit.parse().ok()?];
                Some((name.trim_end(), numbers))
            })
            .collect();
        for (name, [tokens, limit]) in &rows {
            assert!((1..=*limit).contains(tokens), "{name}: {tokens} of {limit}");
        }
        let limit = |name: &str| rows.iter().find(|row| row.0 == name).unwrap().1[1];
        let limits = ["system", "tools", "all"].map(limit);
        // Section 3.
        let expected = if phase == "boot" {
            [1_500, 500, 5_000]
        } else {
            [500, 540, 5_000]
        };
        assert_eq!(limits, expected, "{told}");
        let last =
            "counted by o200k, tools in the form of anthropic; the provider counts differently\n";
        assert!(told.ends_with(last), "{told}");
    }
}

/// The tokens of the tools are counted in the form that the chosen provider receives.
#[test]
fn the_tokens_of_the_tools_are_those_of_the_provider() {
    let place = Place::with_data();
    let openai = ["--provider", "openai", "--model", "m"];
    let server = [
        "--base-url=http://127.0.0.1:9",
        "--provider=generic",
        "--model=m",
    ];
    for (flags, form, limit) in [
        (&[][..], "anthropic", 540),
        (&["--provider", "offline"], "anthropic", 540),
        (&openai, "openai", 600),
        (&server, "generic", 600),
    ] {
        let command = ["prompt", "--phase", "call", "--tokens"];
        let told = place.run(&[&command, flags].concat()).exits(0).stdout;
        let tools = told.lines().find(|line| line.starts_with("tools")).unwrap();
        let numbers: Vec<u32> = (tools.split_whitespace().skip(1))
            .map(|number| number.parse().unwrap())
            .collect();
        assert_eq!(numbers[1], limit, "{told}");
        assert!(numbers[0] <= limit && numbers[0] > limit - 60, "{told}");
        let last = told.lines().last().unwrap();
        assert!(last.contains(&format!("in the form of {form};")), "{told}");
        let sent = place.json(&[&command[..3], flags].concat());
        let tape = place.path("tape.jsonl");
        let recorded = [&command[..], flags, &["--record", tape.to_str().unwrap()]].concat();
        place.run(&recorded).exits(0);
        assert!(!tape.exists());
        let is_wrapped = sent["tools"]
            .as_str()
            .unwrap()
            .contains("\"type\":\"function\"");
        assert_eq!(is_wrapped, limit == 600, "{told}");
    }
}

#[test]
fn faces_are_listed() {
    let place = Place::with_data();
    let none = place.run(&["shells"]).exits(0);
    assert_eq!(none.stderr, "hermitcrab: no shells yet\n");
    let document = place.run(&["shells", "--json"]).exits(0);
    assert_eq!(document.stderr, "");
    place.fed(b"break\n", &["chat"]).exits(0);
    let one = place.run(&["shells"]).exits(0);
    assert!(one.stdout.starts_with("1 "), "{}", one.stdout);
    assert_eq!(one.stderr, "");
}

#[test]
fn faces_are_listed_shown_and_gone_back_to() {
    let place = Place::with_data();
    insta::assert_json_snapshot!("no_shells", place.json(&["shells"]));
    assert_eq!(place.run(&["shells"]).exits(0).stdout, "");
    place
        .run(&["shells", "show", "1"])
        .exits(1)
        .tells(&["hermitcrab shells"]);
    place
        .run(&["shells", "use", "1"])
        .exits(1)
        .tells(&["hermitcrab shells"]);

    let place = lived_in();
    insta::assert_json_snapshot!("shells", timeless(place.json(&["shells"])));
    let told = place.run(&["shells"]).exits(0).stdout;
    assert_eq!(told.lines().count(), 2, "{told}");
    let source = |rev: &str| place.run(&["shells", "show", rev]).exits(0).stdout;
    assert!(source("1").contains("const SIZE = 16;"));
    assert!(source("2").contains("const SIZE = 18;"));
    place.run(&["shells", "use", "1"]).exits(0);
    // The person's choice is what the next patch begins with.
    place.fed(b"bigger text\n", &["chat"]).exits(0);
    assert!(source("3").contains("const SIZE = 18;"));
    place.run(&["shells", "use", "99"]).exits(1);
}

/// The error is that of the tool, and not that there is no such face.
#[cfg(unix)]
#[test]
fn a_face_that_cannot_be_used_says_why() {
    let place = lived_in();
    let ran = finish(start(
        &mut place.limited("ulimit -f 0", &["shells", "use", "1"]),
    ));
    ran.exits(1)
        .tells(&["io: File too large", "nothing was changed"]);
    place.file("data/shells/1.jsx", "function App() { return <p>; }");
    let ran = place.run(&["shells", "use", "1"]).exits(1);
    ran.tells(&["compile: line 1"]);
}

#[test]
fn a_face_is_compiled_or_its_faults_are_named() {
    let place = Place::new();
    place.file(
        "good.jsx",
        "export default function Face() {\n  return <p>hello</p>;\n}\n",
    );
    place.file("bad.jsx", "function Face() {\n  return <p>{name</p>;\n}\n");
    place.file(
        "lost.jsx",
        "import x from './x';\nfunction Face() {\n  fetch(x);\n  return <p>{lost}</p>;\n}\n",
    );
    place.file(
        "warned.jsx",
        "const Face = () => <p>{localStorage.a}</p>;\n",
    );
    place.file("large.jsx", " ".repeat(300_000));
    place.file("none.jsx", "");
    place.file("picture.jsx", b"\x89PNG\r\n\xff\xfe");
    assert_eq!(
        place.run(&["compile", "good.jsx"]).exits(0).stdout,
        "Face\n"
    );
    let told = place.run(&["compile", "bad.jsx"]).exits(4).stdout;
    assert!(told.starts_with("2:19: syntax: "), "{told}");
    let told = place.run(&["compile", "lost.jsx"]).exits(4).stdout;
    let places: Vec<_> = (told.lines())
        .filter_map(|line| line.split_once(": "))
        .map(|(place, fault)| (place, fault.split(':').next().unwrap()))
        .collect();
    assert_eq!(places, [("1:1", "import"), ("4:14", "undefined_name")]);
    let ran = place.run(&["compile", "warned.jsx"]).exits(0);
    assert_eq!(ran.stdout, "Face\n");
    ran.tells(&["localStorage", "props.state"]);
    let told = place.run(&["compile", "large.jsx"]).exits(4).stdout;
    assert!(told.starts_with("too_large: "), "{told}");
    let told = place.run(&["compile", "none.jsx"]).exits(4).stdout;
    assert!(told.contains("no_code"), "{told}");
    place
        .run(&["compile", "picture.jsx"])
        .exits(2)
        .tells(&["picture.jsx", "UTF-8"]);
    place
        .run(&["compile", "nothere.jsx"])
        .exits(2)
        .tells(&["nothere.jsx"]);
    let reply = b"Here it is:\n```jsx\nfunction Face() { return null; }\n```\n";
    assert_eq!(
        place.fed(reply, &["compile", "-"]).exits(0).stdout,
        "Face\n"
    );
}

#[test]
fn the_cost_of_nothing() {
    let place = Place::with_data();
    insta::assert_json_snapshot!("cost", place.json(&["cost"]));
    insta::assert_snapshot!("cost_told", place.run(&["cost"]).exits(0).stdout);
}

/// Runs the doctor with a server that answers the request for its models in this way.
fn doctor(place: &Place, answer: Answer, more: &[&str]) -> (Ran, usize) {
    let server = FaultServer::replies([answer]);
    let url = server.url("");
    let base = ["doctor", "--provider", "anthropic", "--base-url", &url];
    let mut command = place.command(&[&base, more].concat());
    command.env(VARIABLE, KEY);
    let ran = finish(start(&mut command));
    for received in server.requests() {
        assert!(received.method == "GET" && received.path.starts_with("/v1/models"));
    }
    let host = url.trim_start_matches("http://");
    let ran = Ran {
        stdout: ran.stdout.replace(host, "HOST"),
        ..ran
    };
    (ran, server.requests().len())
}

fn models(ids: &[&str]) -> Answer {
    let model = |id: &&str| json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"});
    let data: Vec<_> = ids.iter().map(model).collect();
    let list =
        json!({"data": data, "has_more": false, "first_id": ids.first(), "last_id": ids.last()});
    Answer::json(200, list.to_string())
}

const SERVED: [&str; 4] = [
    "claude-opus-5-5",
    "claude-opus-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

#[test]
fn the_doctor_finds_all_in_order() {
    let place = lived_in();
    let (ran, asked) = doctor(&place, models(&SERVED), &[]);
    // The sizes vary with the times in the files.
    let (sizes, told): (Vec<_>, Vec<_>) =
        (ran.exits(0).stdout.lines().map(str::to_owned)).partition(|line| line.contains(" size "));
    insta::assert_snapshot!("doctor", told.join("\n"));
    assert!(
        sizes[0].contains("KiB: blocks ") && sizes[0].contains(", logs "),
        "{sizes:?}"
    );
    assert!(!sizes[0].contains("prune"));
    assert_eq!(asked, 1);
    let (ran, _) = doctor(&place, models(&SERVED), &["--json"]);
    let mut checks = ran.exits(0).json();
    checks["checks"][2]["found"] = "SIZES".into();
    insta::assert_json_snapshot!("doctor_json", checks);
    // A large one is told which command makes it smaller.
    let large = std::fs::File::create(place.path(crate::program::DATA).join("large")).unwrap();
    large.set_len(2 << 30).unwrap();
    let (ran, _) = doctor(&place, models(&SERVED), &[]);
    assert!(
        ran.exits(0)
            .stdout
            .contains("`hermitcrab prune` removes what is old")
    );
}

#[test]
fn the_doctor_names_what_is_not_served() {
    let place = lived_in();
    let (ran, _) = doctor(&place, models(&SERVED[1..]), &[]);
    let told = ran.exits(4).stdout;
    assert!(
        told.contains("FAILS  model      claude-opus-5-5 is not served"),
        "{told}"
    );
    assert_eq!(told.matches("FAILS").count(), 1, "{told}");
    // The one that is asked for alone.
    let (ran, _) = doctor(&place, models(&SERVED[1..]), &["--model", "claude-opus-5"]);
    ran.exits(0);
}

#[test]
fn the_doctor_tells_in_a_line_why_nobody_answers() {
    let place = lived_in();
    let refused =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}});
    for answer in [
        Answer::json(401, refused.to_string()),
        Answer::whole(200, "text/html", "<html>Welcome</html>"),
    ] {
        let (ran, _) = doctor(&place, answer, &[]);
        let told = ran.exits(4).stdout;
        assert!(told.contains("FAILS  models     HOST"), "{told}");
        assert_eq!(told.lines().count(), 4, "{told}");
    }
}

#[test]
fn the_doctor_without_a_provider_and_with_broken_settings() {
    let place = Place::with_data();
    let told = place.run(&["doctor"]).exits(0).stdout;
    assert!(
        told.contains("?      models     no provider is asked: offline"),
        "{told}"
    );
    place.file("data/hermitcrab.toml", "colour = 1\n");
    let told = place.run(&["doctor"]).exits(4).stdout;
    assert!(told.contains("FAILS  settings"), "{told}");
    assert!(told.contains("hermitcrab.toml"), "{told}");
    assert!(told.contains("line 1"), "{told}");
    // A block that cannot be read.
    let place = lived_in();
    place.file("data/blocks/memory.json", "{ torn");
    let told = place.run(&["doctor"]);
    assert!(matches!(told.code, Some(0 | 4)), "{told:?}");
}
