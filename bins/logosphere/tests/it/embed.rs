//! Vectors of a run's texts by a server, and the file that keeps them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use logosphere_core::experiment::VectorLock;
use logosphere_core::measures::embedding::PROBES;
use serde_json::{Value, json};
use test_support::{Answer, FaultServer, Received, Signal};

use crate::program::{Place, Ran, finish, start, words};

/// The number of texts of [`run`], which are two full requests and a third.
pub const TEXTS: usize = 150;
pub const ASK: &str = "analyze E --no-null --json --embed generic:m";

/// A run of [`TEXTS`] seeds, whose minds only repeat them.
pub fn run() -> Place {
    let seeds: Vec<_> = (0..TEXTS).map(|n| format!("Seed {n} is a text.")).collect();
    let seeds: Vec<_> = seeds.iter().map(String::as_str).collect();
    seeded(&seeds)
}

fn seeded(seeds: &[&str]) -> Place {
    let place = Place::new();
    place.seeded("E", seeds);
    let line = "run E --rounds 1 --active 200 --seed 1 --mind copier:mu=0";
    place.alone(&words(line)).exits(0);
    place
}

/// The texts of a request.
pub fn inputs(request: &Received) -> Vec<String> {
    serde_json::from_value(request.json()["input"].clone()).unwrap()
}

pub fn is_probe(request: &Received) -> bool {
    inputs(request) == PROBES
}

/// The vector of a text: its length, its last byte and a constant.
pub fn vector(text: &str) -> Value {
    json!([text.len(), text.as_bytes()[text.len() - 1], 7])
}

/// The body with a vector for each text of a request.
pub fn body(request: &Received, vector: impl Fn(&str) -> Value) -> Value {
    let rows = inputs(request).into_iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(index, text)| json!({"index": index, "embedding": vector(&text)}))
        .collect();
    json!({"model": "model-1", "data": rows, "usage": {"prompt_tokens": 100_000}})
}

pub fn good(request: &Received) -> Answer {
    Answer::json(200, body(request, vector).to_string())
}

pub fn server() -> FaultServer {
    FaultServer::play(good)
}

/// The arguments that ask this server, with others.
fn asking(server: &FaultServer, more: &str) -> Vec<String> {
    let line = format!("{ASK} --embed-url {} {more}", server.url("/v1"));
    words(&line).into_iter().map(str::to_owned).collect()
}

pub fn ask(place: &Place, server: &FaultServer, more: &str) -> Ran {
    let arguments = asking(server, more);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    place.alone(&arguments)
}

/// The number of times that each text was sent, without the probes.
pub fn sent(servers: &[&FaultServer]) -> BTreeMap<String, usize> {
    let mut sent = BTreeMap::new();
    let requests = servers.iter().flat_map(|server| server.requests());
    for text in requests
        .filter(|it| !is_probe(it))
        .flat_map(|it| inputs(&it))
    {
        *sent.entry(text).or_default() += 1;
    }
    sent
}

/// The file of vectors.
pub fn file(place: &Place) -> PathBuf {
    let mut names = place.names("E/analysis/embeddings");
    names.retain(|name| name != "lock");
    let [name] = &names[..] else {
        panic!("{names:?}");
    };
    place.path("E/analysis/embeddings").join(name)
}

/// The number of records of a file, the probes included.
pub fn records(place: &Place) -> usize {
    let bytes = fs::read(file(place)).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    (bytes.len() - header) / (32 + 3 * 4)
}

#[test]
fn each_text_is_sent_once_and_then_no_server_is_needed() {
    let place = run();
    let before = place.alone(&words("analyze E --no-null --json")).exits(0);
    assert!(!place.path("E/analysis").exists());
    let server = server();
    let ran = ask(&place, &server, "").exits(0).tells(&[
        "requests go to 127.0.0.1",
        "(from --embed-url)",
        "sending 150 texts to generic:m: about ",
        "at a price that is not known",
        "vectors of 150 texts kept: 400000 tokens",
    ]);
    let mut found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let by_vectors = found.as_object_mut().unwrap().remove("embedding").unwrap();
    let plain: Value = serde_json::from_str(&before.stdout).unwrap();
    assert_eq!(found, plain);
    let encoder = &by_vectors["encoder"];
    assert_eq!(
        (&encoder["name"], &encoder["dims"]),
        (&json!("generic:m"), &json!(3))
    );
    assert_eq!(encoder["model_answered"], "model-1");
    assert_eq!(by_vectors["without"], 0);
    let requests = server.requests();
    let counts: Vec<_> = requests.iter().map(|it| inputs(it).len()).collect();
    assert_eq!(counts, [4, 64, 64, 22]);
    assert!(is_probe(&requests[0]) && requests.iter().all(|it| it.path == "/v1/embeddings"));
    let all = sent(&[&server]);
    assert_eq!((all.len(), all.values().max()), (TEXTS, Some(&1)));
    assert_eq!(records(&place), 4 + TEXTS);

    let kept = fs::read(file(&place)).unwrap();
    let again = ask(&place, &server, "").exits(0);
    assert_eq!(
        (again.stdout, again.stderr.as_str()),
        (ran.stdout.clone(), "")
    );
    assert_eq!(server.requests().len(), 4);
    drop(server);
    // No address and no server, also by the name of the journal.
    for run in ["E", "E/logs/experiment.jsonl"] {
        let line = format!("{ASK} --embed-cached").replace(" E ", &format!(" {run} "));
        assert_eq!(place.alone(&words(&line)).exits(0).stdout, ran.stdout);
    }
    assert_eq!(fs::read(file(&place)).unwrap(), kept);
}

#[test]
fn without_the_flag_nothing_is_sent_or_written() {
    let place = run();
    let server = server();
    let url = server.url("/v1");
    place
        .alone(&["analyze", "E", "--embed-url", &url])
        .exits(2)
        .tells(&["--embed <NAME>"]);
    for (flags, message) in [
        (
            "--embed anthropic:m",
            "anthropic has no embeddings; give chargram",
        ),
        ("--embed offline:m", "offline has no embeddings"),
        ("--embed openai", "PROVIDER:MODEL"),
        (
            "--embed generic:m",
            "generic:m has no address of its server; give --embed-url URL",
        ),
        (
            "--embed chargram --embed-url URL",
            "chargram is computed on this machine",
        ),
        (
            "--embed generic:m --embed-url URL --embed-cached --embed-fresh",
            "cannot be used with",
        ),
        (
            "--embed generic:m --embed-url ftp://h",
            "base URL: expected http://",
        ),
        (
            "--embed generic:m --embed-url URL --embed-max-usd 1",
            "--embed-max-usd: the price of m is not known; give it with --embed-prices FILE",
        ),
        (
            "--embed generic:m --embed-url URL --embed-prices no.json",
            "--embed-prices no.json: expected a file of prices",
        ),
        (
            "--embed openai:m",
            "no API key for openai: set LOGOSPHERE_EMBED_API_KEY or OPENAI_API_KEY, or give --embed chargram",
        ),
    ] {
        let line = format!("analyze E --no-null {flags}").replace("URL", &url);
        place.alone(&words(&line)).exits(2).tells(&[message]);
    }
    assert!(server.requests().is_empty());
    assert!(!place.path("E/analysis").exists());
}

/// A change that makes a body wrong.
type Fault = fn(&mut Value);

/// Bodies that are refused: a name, words of the error, and the change.
fn faults() -> Vec<(&'static str, &'static str, Fault)> {
    fn row(body: &mut Value, index: usize) -> &mut Value {
        &mut body["data"][index]
    }
    vec![
        ("missing index", "index", |body| {
            row(body, 1).as_object_mut().unwrap().remove("index");
        }),
        ("double index", "index", |body| {
            row(body, 1)["index"] = json!(0);
        }),
        ("far index", "index", |body| {
            row(body, 1)["index"] = json!(4096);
        }),
        ("other count", "text", |body| {
            body["data"].as_array_mut().unwrap().pop();
        }),
        ("other length", "text 2 has 2 numbers, expected 3", |body| {
            row(body, 2)["embedding"] = json!([1, 2]);
        }),
        ("not a number", "text 2 is not a list of numbers", |body| {
            row(body, 2)["embedding"] = json!(["NaN", 1, 2]);
        }),
        ("infinite", "text 2", |body| {
            // The infinite f32 in base64.
            row(body, 2)["embedding"] = json!("AACAfwAAgH8AAIB/");
        }),
        ("zero vector", "the vector of text 2 is zero", |body| {
            row(body, 2)["embedding"] = json!([0, 0.0, -0.0]);
        }),
    ]
}

/// A server that answers wrongly from its request with this number on: an answer that cannot be used is asked again.
fn faulty(number: usize, spoil: Fault) -> FaultServer {
    FaultServer::play(move |request| {
        let mut body = body(request, vector);
        if request.number >= number {
            spoil(&mut body);
        }
        Answer::json(200, body.to_string())
    })
}

#[test]
fn a_wrong_answer_is_an_error_and_what_came_before_it_is_kept() {
    for (name, message, spoil) in faults() {
        let place = run();
        ask(&place, &faulty(0, spoil), "")
            .exits(1)
            .tells(&["no vectors of generic:m: ", message]);
        let names = place.names("E/analysis/embeddings");
        assert_eq!(names, ["lock"], "{name}");

        ask(&place, &faulty(2, spoil), "").exits(1).tells(&[
            "no vectors of generic:m: ",
            message,
            "vectors of 64 of 150 texts are kept",
        ]);
        assert_eq!(records(&place), 4 + 64, "{name}");
        let good = server();
        ask(&place, &good, "").exits(0);
        let counts: Vec<_> = good.requests().iter().map(|it| inputs(it).len()).collect();
        assert_eq!(
            (counts, records(&place)),
            (vec![4, 64, 22], 4 + TEXTS),
            "{name}"
        );
    }
}

#[test]
fn vectors_of_another_model_or_length_than_those_of_the_probes_are_refused() {
    for (spoil, message) in [
        (
            (|body| body["model"] = json!("other")) as Fault,
            "expected 3 numbers of model-1 as for the probes, got 3 of other",
        ),
        (
            |body| {
                for row in body["data"].as_array_mut().unwrap() {
                    row["embedding"] = json!([1, 2]);
                }
            },
            "expected 3 numbers of model-1 as for the probes, got 2 of model-1",
        ),
    ] {
        let place = run();
        ask(&place, &faulty(1, spoil), "")
            .exits(1)
            .tells(&[message]);
        assert_eq!(records(&place), 4);
    }
}

/// Cuts the last record off, so that a text is missing.
fn lose_a_text(place: &Place) {
    let kept = fs::read(file(place)).unwrap();
    fs::write(file(place), &kept[..kept.len() - 1]).unwrap();
}

#[test]
fn another_encoder_is_refused_until_a_new_cache_is_begun() {
    let place = run();
    ask(&place, &server(), "").exits(0);
    lose_a_text(&place);
    // The last digits of a server's numbers differ from call to call.
    let near = |text: &str| {
        let mut numbers = vector(text);
        numbers[2] = json!(7.001);
        numbers
    };
    let same = FaultServer::play(move |request| Answer::json(200, body(request, near).to_string()));
    ask(&place, &same, "").exits(0);
    assert_eq!((same.requests().len(), records(&place)), (2, 4 + TEXTS));

    lose_a_text(&place);
    let kept = fs::read(file(&place)).unwrap();
    let turned = |text: &str| json!([7, text.len(), 1]);
    let other =
        FaultServer::play(move |request| Answer::json(200, body(request, turned).to_string()));
    let name = file(&place)
        .file_stem()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let sentence = format!("generic:m answers as another encoder (sha256 {name}.. now ");
    ask(&place, &other, "")
        .exits(2)
        .tells(&[&sentence, "..); --embed-fresh begins a new cache"]);
    assert_eq!(
        (other.requests().len(), fs::read(file(&place)).unwrap()),
        (1, kept)
    );

    ask(&place, &other, "--embed-fresh").exits(0);
    assert!(!file(&place).ends_with(format!("{name}.bin")));
    assert_eq!(
        (other.requests().len(), records(&place)),
        (1 + 4, 4 + TEXTS)
    );
    ask(&place, &other, "").exits(0);
    assert_eq!(other.requests().len(), 1 + 4);
}

#[test]
fn a_damaged_file_is_named_and_replaced_on_demand() {
    let place = run();
    let server = server();
    ask(&place, &server, "").exits(0);
    let damaged = file(&place);
    fs::write(&damaged, "{}\n").unwrap();
    let name = damaged.file_name().unwrap().to_str().unwrap();
    for more in ["", "--embed-cached"] {
        let message = "remove the file, or give --embed-fresh";
        ask(&place, &server, more).exits(2).tells(&[name, message]);
    }
    assert_eq!(server.requests().len(), 4);
    ask(&place, &server, "--embed-fresh").exits(0);
    assert_eq!((server.requests().len(), records(&place)), (8, 4 + TEXTS));
}

#[test]
fn without_a_network_the_number_of_missing_texts_is_an_error() {
    let place = run();
    let line = format!("{ASK} --embed-cached");
    let message = |missing: usize| format!("generic:m: {missing} of 150 texts have no vector");
    let ran = place.alone(&words(&line)).exits(2);
    ran.tells(&[&message(TEXTS), "leave --embed-cached out"]);
    assert!(!place.path("E/analysis").exists());
    let server = server();
    ask(&place, &server, "").exits(0);
    lose_a_text(&place);
    ask(&place, &server, "--embed-cached")
        .exits(2)
        .tells(&[&message(1)]);
    assert_eq!(server.requests().len(), 4);
}

/// A server that answers its third request once the signal is fired.
fn held() -> (FaultServer, Signal) {
    let signal = Signal::new();
    let fired = signal.clone();
    let server = FaultServer::play(move |request| {
        if request.number == 2 {
            good(request).after(Answer::raw().wait(&fired))
        } else {
            good(request)
        }
    });
    (server, signal)
}

#[test]
fn a_killed_process_pays_only_for_the_request_under_way_again() {
    let place = run();
    let (killed, _signal) = held();
    let arguments = asking(&killed, "");
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child = start(&mut place.command(&arguments));
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while killed.requests().len() < 3 {
        assert!(std::time::Instant::now() < deadline, "no third request");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(records(&place), 4 + 64);
    let under_way = inputs(&killed.requests()[2]);
    let good = server();
    ask(&place, &good, "").exits(0);
    let all = sent(&[&killed, &good]);
    assert_eq!(all.len(), TEXTS);
    for (text, times) in all {
        let expected = 1 + usize::from(under_way.contains(&text));
        assert_eq!(times, expected, "{text}");
    }
    assert_eq!(records(&place), 4 + TEXTS);
}

#[cfg(unix)]
#[test]
fn a_signal_waits_for_the_request_under_way_and_keeps_it() {
    use std::io::{BufRead as _, BufReader, Read as _};

    let place = run();
    let (stopped, fire) = held();
    let arguments = asking(&stopped, "");
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child = start(&mut place.command(&arguments));
    while stopped.requests().len() < 3 {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    crate::program::signal(child.id(), "-INT");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("stopping when the request under way has ended") {
        assert_ne!(stderr.read_line(&mut told).unwrap(), 0, "{told}");
    }
    fire.fire();
    let ran = finish(child).exits(130);
    stderr.read_to_string(&mut told).unwrap();
    assert!(
        told.contains("stopped by a signal after 128 of 150 texts"),
        "{told}"
    );
    assert_eq!(ran.stdout, "");
    assert_eq!((stopped.requests().len(), records(&place)), (3, 4 + 128));
    let good = server();
    ask(&place, &good, "").exits(0);
    let all = sent(&[&stopped, &good]);
    assert_eq!((all.len(), all.values().max()), (TEXTS, Some(&1)));
}

#[test]
fn a_cap_in_dollars_stops_before_the_request_that_could_exceed_it() {
    let place = run();
    // Each request costs 100 dollars.
    let table = json!({"schema_version": 1, "read_on": "2026-11-01", "models": [
        {"provider": "generic", "id": "m", "price": {"in": "1000", "out": "0"}}]});
    place.file("prices.json", table.to_string());
    let capped = server();
    let prices = "--embed-prices prices.json";
    ask(&place, &capped, &format!("{prices} --embed-max-usd 150"))
        .exits(130)
        .tells(&[
            "about $",
            "no vectors of generic:m: ",
            "150",
            "vectors of 64 of 150 texts are kept, ",
            "; the same command sends only the others",
        ]);
    assert_eq!((capped.requests().len(), records(&place)), (2, 4 + 64));
    let good = server();
    ask(&place, &good, &format!("{prices} --embed-max-usd 1000"))
        .exits(0)
        .tells(&["vectors of 86 texts kept: 300000 tokens, $300"]);
    let all = sent(&[&capped, &good]);
    assert_eq!((all.len(), all.values().max()), (TEXTS, Some(&1)));
}

#[test]
fn long_texts_are_cut_and_requests_are_small() {
    let long: Vec<_> = (0..20)
        .map(|n| format!("{n} {}", "𝄞".repeat(8_500)))
        .collect();
    let mut seeds: Vec<_> = long.iter().map(String::as_str).collect();
    seeds.push("A short one.");
    let place = seeded(&seeds);
    let server = server();
    let told = "20 texts of more than 8000 characters: only their first 8000 are sent";
    ask(&place, &server, "").exits(0).tells(&[told]);
    for request in server.requests() {
        let inputs = inputs(&request);
        assert!(inputs.iter().map(String::len).sum::<usize>() <= 200_000);
        assert!(inputs.iter().all(|text| text.chars().count() <= 8_000));
    }
    let all = sent(&[&server]);
    assert_eq!((all.len(), all.values().max()), (21, Some(&1)));
    let whole: String = long[3].chars().take(8_000).collect();
    assert!(all.contains_key(&whole));
    // Six texts of 32 kB fit a request.
    assert_eq!(server.requests().len(), 1 + 4);
    // The kept vectors are those of the whole texts.
    ask(&place, &server, "--embed-cached").exits(0);
}

#[test]
fn the_key_is_that_of_the_encoder_and_goes_to_its_server_only() {
    let place = run();
    let server = server();
    let url = server.url("/v1");
    let ask = |keys: &[(&str, &str)], name: &str| {
        let line = format!("analyze E --no-null --embed {name} --embed-url {url} --embed-fresh");
        let mut command = place.command(&words(&line));
        command.envs(keys.iter().copied());
        let before = server.requests().len();
        finish(start(&mut command)).exits(0);
        let requests = server.requests().split_off(before);
        let keys: Vec<_> = (requests.iter())
            .map(|it| it.header("authorization").map(str::to_owned))
            .collect();
        assert!(
            keys.len() == 4 && keys.iter().all(|key| *key == keys[0]),
            "{keys:?}"
        );
        assert!(
            !fs::read(file(&place))
                .unwrap()
                .windows(4)
                .any(|it| it == b"key-")
        );
        fs::remove_file(file(&place)).unwrap();
        keys[0].clone()
    };
    let others = [
        ("OPENAI_API_KEY", "key-of-openai-01"),
        ("OPENROUTER_API_KEY", "key-of-openrouter"),
        ("LOGOSPHERE_API_KEY", "key-of-the-minds"),
    ];
    let own = ("LOGOSPHERE_EMBED_API_KEY", "key-of-embeddings");
    let bearer = Some("Bearer key-of-embeddings".to_owned());
    for name in ["generic:m", "openai:m", "llamacpp:any"] {
        // The provider's own key is not sent to a server on this machine, and that of the minds never.
        assert_eq!(ask(&others, name), None, "{name}");
        assert_eq!(ask(&[&others[..], &[own]].concat(), name), bearer, "{name}");
    }
    place.file(".env", "LOGOSPHERE_EMBED_API_KEY=key-of-embeddings\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(place.path(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(ask(&others, "generic:m"), bearer);
}

#[test]
fn two_processes_do_not_send_at_the_same_time() {
    let place = run();
    let server = server();
    let lock = VectorLock::take(&place.path("E"), 7).unwrap();
    ask(&place, &server, "")
        .exits(2)
        .tells(&["embeddings: process 7 works in this experiment"]);
    assert!(server.requests().is_empty());
    drop(lock);
    ask(&place, &server, "").exits(0);
    // Vectors that are there are read under a lock of another process.
    let _lock = VectorLock::take(&place.path("E"), 7).unwrap();
    ask(&place, &server, "").exits(0);
    assert_eq!(server.requests().len(), 4);
}
