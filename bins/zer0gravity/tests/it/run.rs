//! `run`: what it asks, what it writes.

use std::fs;
use std::io::Read as _;

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode, StubRole};

use crate::keys;
use crate::program::{Place, column, finish, start, timeless, words};

/// All keys of a result in order, section 8 of the specification.
const KEYS: &str = "testCaseId error originalText encodedText decodedText encodingSystem originalTokens encodedTokens \
    compressionRatio scores scores.tokenEfficiency scores.semanticPreservation scores.learnability \
    scores.implementability total details details.compressionPercent details.semanticReasoning \
    details.implementabilityReasoning details.semanticJudge details.semanticJudge.status details.semanticJudge.asks \
    details.semanticJudge.clamped details.semanticJudge.samples details.semanticJudge.samples.model \
    details.semanticJudge.samples.sample details.semanticJudge.samples.score details.semanticJudge.samples.status \
    details.semanticJudge.samples.clamped details.semanticJudge.samples.reply \
    details.implementabilityJudge details.implementabilityJudge.status details.implementabilityJudge.asks \
    details.implementabilityJudge.clamped details.implementabilityJudge.samples \
    details.implementabilityJudge.samples.model details.implementabilityJudge.samples.sample \
    details.implementabilityJudge.samples.score details.implementabilityJudge.samples.status \
    details.implementabilityJudge.samples.clamped \
    details.implementabilityJudge.samples.reply \
    details.learnabilityMeasured metadata metadata.model metadata.timestamp metadata.durationMs \
    metadata.totalApiCalls metadata.totalTokensUsed metadata.totalTokensUsed.input metadata.totalTokensUsed.output \
    metadata.retries metadata.provider metadata.models metadata.models.encoder metadata.models.decoder \
    metadata.models.judges metadata.tokenSource metadata.tokenCounter metadata.tokenCounter.tokenizer \
    metadata.tokenCounter.scale metadata.tokenCounter.offset metadata.tokenCounter.error metadata.promptProfile metadata.promptSha256 \
    metadata.promptSha256.encoder metadata.promptSha256.decoder metadata.promptSha256.semanticJudge \
    metadata.promptSha256.implementabilityJudge metadata.rulesSha256 metadata.engineVersion metadata.randomness \
    metadata.randomness.algorithm metadata.randomness.seed offline outcome outcome.status outcome.stage outcome.kind \
    outcome.detail stages stages.stage stages.status stages.stopReason stages.attempts stages.elapsedMs stages.usage \
    stages.usage.input stages.usage.output metrics metrics.chrfPp metrics.rougeL metrics.atoms \
    metrics.atoms.criticalRecall metrics.atoms.invented metrics.atoms.byKind metrics.atoms.findings \
    metrics.atoms.language metrics.atoms.listsSha256 metrics.lengthRatio flags flags.id flags.severity flags.evidence procedural procedural.status procedural.answer \
    procedural.expected cost level trial decode encodingId schema_version";

/// Keys that only some results have.
const SOMETIMES: [&str; 12] = [
    "error",
    "outcome.stage",
    "outcome.kind",
    "outcome.detail",
    "stages.usage.input",
    "stages.usage.output",
    "flags.id",
    "flags.severity",
    "flags.evidence",
    "procedural.answer",
    "procedural.expected",
    "cost",
];

#[test]
fn level_1_is_written_as_specified() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ran = place.asking(&stub, &["run", "--level", "1"]).exits(0);
    assert_eq!(stub.stats().calls, 12);
    assert!(
        ran.stdout
            .starts_with("[\n  {\n    \"testCaseId\": \"1a\",\n")
    );
    assert!(ran.stdout.ends_with("  }\n]\n"));

    let known: Vec<_> = KEYS.split_whitespace().collect();
    let found = keys::paths(&ran.stdout);
    assert_eq!(found.len(), 2);
    for found in &found {
        keys::assert_in_order(found, &known);
        for key in known.iter().filter(|key| !SOMETIMES.contains(key)) {
            assert!(found.iter().any(|path| path == key), "{key} is missing");
        }
    }

    let results = ran.results();
    let first = &results[0];
    for (pointer, value) in [
        ("/testCaseId", json!("1a")),
        ("/originalText", json!("Hello world!")),
        ("/encodedText", json!("Hllo wrld!")),
        ("/decodedText", json!("Hello world!")),
        ("/originalTokens", json!(12)),
        ("/encodedTokens", json!(10)),
        ("/compressionRatio", json!(0.167)),
        ("/total", json!(73)),
        ("/details/compressionPercent", json!(16.7)),
        (
            "/details/semanticReasoning",
            json!("semantic_judge by rule"),
        ),
        ("/details/semanticJudge/status", json!("parsed")),
        ("/details/semanticJudge/asks", json!(1)),
        ("/details/semanticJudge/clamped", json!(false)),
        ("/details/semanticJudge/samples/0/score", json!(38)),
        ("/details/implementabilityJudge/samples/0/score", json!(4)),
        ("/details/learnabilityMeasured", Value::Null),
        ("/metadata/model", json!("claude-sonnet-4-5-20250929")),
        ("/metadata/totalApiCalls", json!(6)),
        ("/metadata/retries", json!(0)),
        ("/metadata/provider", json!("anthropic")),
        (
            "/metadata/models/judges",
            json!(["claude-sonnet-4-5-20250929"]),
        ),
        ("/metadata/tokenSource", json!("api")),
        ("/metadata/promptProfile", json!("seed")),
        ("/metadata/randomness/seed", json!(0)),
        ("/offline", json!(false)),
        ("/outcome/status", json!("ok")),
        ("/metrics/rougeL", json!(1)),
        ("/flags", json!([])),
        ("/procedural/status", json!("not_run")),
        ("/level", json!(1)),
        ("/trial", json!(1)),
        ("/decode", json!(1)),
        ("/schema_version", json!(2)),
    ] {
        assert_eq!(first.pointer(pointer), Some(&value), "{pointer}");
    }
    let scores = json!({
        "tokenEfficiency": 17, "semanticPreservation": 38, "learnability": 14, "implementability": 4,
    });
    assert_eq!(first["scores"], scores);
    let rules = first["encodingSystem"].as_str().unwrap();
    assert!(rules.starts_with("VOWEL_DROP: ") && rules.len() == 402);
    let hash = first["metadata"]["rulesSha256"].as_str().unwrap();
    assert!(hash.starts_with("8bf930e40fccfd4a"), "{hash}");
    assert_time(first["metadata"]["timestamp"].as_str().unwrap());
}

/// UTC, RFC 3339, with milliseconds and Z.
fn assert_time(text: &str) {
    let shape: String = text
        .chars()
        .map(|one| if one.is_ascii_digit() { '0' } else { one })
        .collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{text}");
}

#[test]
fn stages_stand_in_order_and_their_usage_adds_up() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ran = place.asking(&stub, &["run", "--level", "3"]).exits(0);
    let result = &ran.results()[0];
    let stages = result["stages"].as_array().unwrap();
    let names = column(&stages[..6], "/stage");
    let order =
        words("count_original encode count_encoded decode judge_semantic judge_implementability");
    assert_eq!(names, order);
    assert_eq!(column(&stages[..6], "/status"), ["ok"; 6]);
    assert_eq!(column(&stages[..6], "/attempts"), ["1"; 6]);
    let stops = words("null end_turn null end_turn end_turn end_turn");
    assert_eq!(column(&stages[..6], "/stopReason"), stops);
    for side in ["input", "output"] {
        let sum: u64 = stages
            .iter()
            .filter_map(|stage| stage["usage"][side].as_u64())
            .sum();
        assert!(sum > 0);
        assert_eq!(result["metadata"]["totalTokensUsed"][side], json!(sum));
    }
}

#[test]
fn all_levels_make_24_calls_of_four_keys() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ran = place.asking(&stub, &["run", "--all"]).exits(0);
    let results = ran.results();
    assert_eq!(column(&results, "/testCaseId"), ["1a", "1b", "2a", "3a"]);
    assert_eq!(column(&results, "/level"), ["1", "1", "2", "3"]);
    assert_eq!(column(&results, "/total"), ["73", "72", "75", "67"]);
    assert_eq!(
        column(&results, "/originalTokens"),
        ["12", "19", "121", "112"]
    );
    assert_eq!(
        column(&results, "/encodedTokens"),
        ["10", "16", "98", "100"]
    );
    // Integers are written without a fraction.
    assert_eq!(
        column(&results, "/details/compressionPercent"),
        ["16.7", "15.8", "19", "10.7"]
    );

    let stats = stub.stats();
    assert_eq!(stats.calls, 24);
    let by_role: Vec<_> = stats.by_role.into_iter().collect();
    let expected = [
        (("count", 200), 8),
        (("decoder", 200), 4),
        (("encoder", 200), 4),
        (("implementability_judge", 200), 4),
        (("semantic_judge", 200), 4),
    ];
    assert_eq!(by_role, expected);
    for call in stub.calls() {
        let keys: Vec<_> = call.body.as_object().unwrap().keys().cloned().collect();
        let (expected, limit): (&[&str], _) = match call.role {
            StubRole::Count => (&["messages", "model"], Value::Null),
            StubRole::Encoder | StubRole::Decoder => {
                (&["max_tokens", "messages", "model", "system"], json!(4096))
            }
            _ => (&["max_tokens", "messages", "model", "system"], json!(512)),
        };
        assert_eq!(keys, expected, "{}", call.body);
        assert_eq!(call.body["max_tokens"], limit);
        assert_eq!(call.body["messages"].as_array().unwrap().len(), 1);
        let original = "quick brown fox";
        assert!(call.role != StubRole::Decoder || !call.body.to_string().contains(original));
    }
}

#[test]
fn rules_come_from_a_file() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("rules/nine.txt", "RULES-9ab");
    let arguments = ["run", "--level=1", "--encoding=rules/nine.txt"];
    let ran = place.asking(&stub, &arguments).exits(0);
    let result = &ran.results()[0];
    assert_eq!(result["encodingSystem"], "RULES-9ab");
    assert_eq!(result["encodingId"], "nine");
    let hashes = &result["metadata"]["promptSha256"];
    for (role, start) in [
        ("encoder", "28a6f53257217f5c"),
        ("decoder", "42100d79b7db86a5"),
        ("semanticJudge", "1826365fbb84e456"),
        ("implementabilityJudge", "fa32c1abc8720b0c"),
    ] {
        let hash = hashes[role].as_str().unwrap();
        assert!(
            hash.starts_with(start) && hash.len() == 64,
            "{role}: {hash}"
        );
    }
    let judge = stub.calls().into_iter();
    let mut judge = judge.filter(|call| call.role == StubRole::ImplementabilityJudge);
    assert_eq!(
        judge.next().unwrap().body["messages"][0]["content"],
        "RULES-9ab"
    );
}

#[test]
fn rules_lose_their_byte_order_mark_and_carriage_returns() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let path = place.file("rules.txt", "\u{feff}line one\r\nline two\r\n");
    let ran = place
        .asking(&stub, &["run", "--level", "3", "--encoding", path])
        .exits(0);
    let result = &ran.results()[0];
    assert_eq!(result["encodingSystem"], "line one\nline two\n");
    let hash = result["metadata"]["rulesSha256"].as_str().unwrap();
    assert!(hash.starts_with("e9024f1a07d29d52"), "{hash}");
}

#[test]
fn output_goes_to_a_file_whose_folder_is_made() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--level", "1", "--output", "results/new/one.json"];
    let ran = place.asking(&stub, &arguments).exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(place.names("results/new"), ["one.json"]);
    let written = place.read("results/new/one.json");
    assert!(written.ends_with("]\n"));
    let again = place.asking(&stub, &["run", "--level", "1"]).exits(0);
    assert_eq!(
        timeless(place.read_json("results/new/one.json")),
        timeless(again.json())
    );
}

#[test]
fn prompts_are_shown_without_a_call() {
    let place = Place::new();
    for profile in ["seed", "bands", "guarded"] {
        let arguments = ["run", "--show-prompts", "--prompt-profile", profile];
        let ran = place.alone(&arguments).exits(0);
        for words in [
            "You are an encoding agent",
            "You are a decoding agent",
            "for implementability",
            "You carry out instructions.",
        ] {
            let bands = profile == "bands" && words == "for implementability";
            assert!(
                bands || ran.stdout.contains(words),
                "{profile}: {words}\n{}",
                ran.stdout
            );
        }
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let mut child = place.start_asking(&stub, &["run", "--level", "3", "--quiet"]);
    drop(child.stdout.take());
    let mut stderr = child.stderr.take().unwrap();
    let status = child.wait().unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let line = format!(
        "zer0gravity: requests go to {} (from --base-url)\n",
        stub.server().address()
    );
    assert_eq!((status.code(), said), (Some(0), line));
}

#[test]
fn trials_and_decodes_are_results_of_their_own_in_plan_order() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--level", "1", "--trials", "2", "--decodes", "2"];
    let results = place.asking(&stub, &arguments).exits(0).results();
    let ids = ["1a", "1a", "1a", "1a", "1b", "1b", "1b", "1b"];
    assert_eq!(column(&results, "/testCaseId"), ids);
    assert_eq!(column(&results, "/trial").concat(), "11221122");
    assert_eq!(column(&results, "/decode").concat(), "12121212");
    assert_eq!(column(&results, "/details/learnabilityMeasured"), ["15"; 8]);
    // Two encodes of a case; its text and their common encoding are counted once; two decodes of each.
    let stats = stub.stats();
    assert_eq!(stats.by_role[&("count", 200)], 4);
    assert_eq!(stats.by_role[&("encoder", 200)], 4);
    assert_eq!(stats.by_role[&("decoder", 200)], 8);
    assert_eq!(stats.by_role[&("semantic_judge", 200)], 8);
}

#[test]
fn each_role_can_have_a_model_and_judges_are_a_panel() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = "run --level 3 --model e --decoder-model d --judge-model j1 --judge-model j2 \
        --judge-samples 2 --max-output-tokens 99";
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let results = place.asking(&stub, &arguments).exits(0).results();
    let models = json!({"encoder": "e", "decoder": "d", "judges": ["j1", "j2"]});
    assert_eq!(results[0]["metadata"]["models"], models);
    let samples = results[0]
        .pointer("/details/semanticJudge/samples")
        .unwrap();
    let samples = samples.as_array().unwrap();
    assert_eq!(column(samples, "/model"), ["j1", "j1", "j2", "j2"]);
    assert_eq!(column(samples, "/sample"), ["1", "2", "1", "2"]);
    for call in stub.calls() {
        let model = call.body["model"].as_str().unwrap();
        let fits = match call.role {
            StubRole::Count | StubRole::Encoder => model == "e",
            StubRole::Decoder => model == "d",
            _ => model.starts_with('j'),
        };
        assert!(fits, "{}", call.body);
        let limited = matches!(call.role, StubRole::Encoder | StubRole::Decoder);
        assert!(!limited || call.body["max_tokens"] == 99);
    }
    assert_eq!(stub.stats().by_role[&("semantic_judge", 200)], 4);
}

#[test]
fn every_profile_of_prompts_makes_the_round_trip() {
    for profile in ["bands", "guarded"] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        let arguments = ["run", "--all", "--prompt-profile", profile];
        let results = place.asking(&stub, &arguments).exits(0).results();
        assert_eq!(column(&results, "/metadata/promptProfile"), [profile; 4]);
        assert_eq!(column(&results, "/encodedText")[0], "Hllo wrld!");
        assert_eq!(
            column(&results, "/decodedText"),
            column(&results, "/originalText")
        );
        assert_eq!(stub.stats().calls, 24);
    }
}

/// Rules whose author knows the number in advance could end their own part and continue as another author's.
#[test]
fn no_two_guarded_questions_have_the_same_number() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--all", "--prompt-profile", "guarded"];
    place.asking(&stub, &arguments).exits(0);
    let mut numbers = Vec::new();
    for call in stub.calls() {
        let user = call.body["messages"][0]["content"].as_str().unwrap();
        let line = user.lines().next().unwrap();
        let number = line.trim_end_matches(']').rsplit(' ').next().unwrap();
        // The rules are judged for each text, with the same question but for its number.
        if call.role != StubRole::Count && call.role != StubRole::ImplementabilityJudge {
            assert_eq!(number.len(), 16, "{line}");
            numbers.push(number.to_owned());
        }
    }
    numbers.sort();
    assert_eq!(numbers.len(), 12);
    assert!(
        numbers.windows(2).all(|pair| pair[0] != pair[1]),
        "{numbers:?}"
    );
}

#[test]
fn datasets_come_in_three_forms() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let lines = "{\"id\": \"x\", \"text\": \"Hello world!\", \"other\": 1}\n\n{\"id\": \"y\", \"text\": \"Ünïcode\"}\n";
    place.file("a.jsonl", lines);
    place.file(
        "b.csv",
        "\u{feff}id,text,genre\r\nx,Hello world!,letter\r\ny,\"Ünïcode\",\r\n",
    );
    place.file(
        "c.json",
        r#"[{"id": "x", "text": "Hello world!"}, {"id": "y", "text": "Ünïcode"}]"#,
    );
    place.file("d.json", r#"{"level": 9, "name": "n", "description": "d", "cases": [{"id": "x", "text": "Hello world!"}, {"id": "y", "text": "Ünïcode"}]}"#);
    for name in ["a.jsonl", "b.csv", "c.json", "d.json"] {
        let results = place
            .asking(&stub, &["run", "--dataset", name])
            .exits(0)
            .results();
        assert_eq!(column(&results, "/testCaseId"), ["x", "y"], "{name}");
        assert_eq!(
            column(&results, "/originalText"),
            ["Hello world!", "Ünïcode"],
            "{name}"
        );
    }
}

#[test]
fn the_base_url_and_the_key_come_from_one_file_and_the_key_is_never_written() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let key = "sk-ant-secret-0123456789";
    place.file(
        "keys.env",
        format!(
            "ZER0GRAVITY_API_KEY={key}\nANTHROPIC_BASE_URL={}\n",
            stub.url()
        ),
    );
    fs::create_dir(place.path("below")).unwrap();
    let run = "run --level 3 --run-dir dir --env-file ../keys.env";
    let mut command = place.command(&run.split(' ').collect::<Vec<_>>());
    command.current_dir(place.path("below"));
    let ran = finish(start(&mut command)).exits(0);
    assert_eq!(stub.stats().calls, 6);
    // A server on this machine that is named as the provider's own gets the program's key, and nothing else does.
    let request = &stub.server().requests()[0];
    let sent = request.headers.iter().any(|(_, value)| value.contains(key));
    assert!(sent, "{:?}", request.headers);
    assert!(!ran.stdout.contains(key) && !ran.stderr.contains(key));
    for name in place.names("below/dir") {
        assert!(
            !place.read(&format!("below/dir/{name}")).contains(key),
            "{name}"
        );
    }
}
