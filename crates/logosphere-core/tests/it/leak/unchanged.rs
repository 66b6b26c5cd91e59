//! Facts that must not affect requests: provider, time, place, and the context of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use llm_client::provider::Provider;
use llm_client::{Anthropic, Auth, Client, Compat, Dialect, Endpoint, RetryPolicy, SystemClock};
use logosphere_core::config::Scheduling;
use logosphere_core::format::format_prompt;
use logosphere_core::journal::MemJournal;
use logosphere_core::verify::leak::check_start;
use logosphere_core::{
    Effective, ExperimentStart, LlmMind, Mind as _, MindInput, Orchestrator, RequestTemplate,
    RunControl, Settings,
};
use test_support::{MindScript, MindStub};

use crate::desk;

/// The hashes of all requests, in order, and what each is a hash of.
fn hashes(journal: &[u8]) -> Vec<(String, Vec<String>, u64)> {
    let calls = desk::lines(journal)
        .into_iter()
        .filter(|line| line["type"] == "mind_invocation");
    calls
        .map(|call| {
            let texts = call["input_messages"].as_array().unwrap().iter();
            (
                call["request_sha256"].as_str().unwrap().to_owned(),
                texts
                    .map(|text| text.as_str().unwrap().to_owned())
                    .collect(),
                call["mind_id"].as_u64().unwrap(),
            )
        })
        .collect()
}

/// A run at another time under another id in another place.
fn elsewhere(settings: &Settings, hours: u64, run_id: &str, software: &str) -> Vec<u8> {
    let mind = desk::mind(settings);
    let start = desk::start(settings, &mind);
    let mut effective = start.effective;
    effective.software = software.into();
    effective.init_sha256 = run_id.into();
    effective.config_sha256 = run_id.into();
    let seeds = start.seeds.into_iter().map(|seed| seed.text);
    let start = ExperimentStart::new(effective, run_id.to_owned(), seeds, start.request_template);
    let clock = desk::Ticking::default();
    clock.0.store(hours * 3_600_000, Ordering::SeqCst);
    let journal = MemJournal::default();
    let mut run = Orchestrator::start(start, mind, journal, clock, RunControl::default()).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    run.into_journal().bytes
}

#[test]
fn neither_clock_nor_name_nor_version_is_in_any_request() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling);
        let here = hashes(&elsewhere(&settings, 0, "run", "logosphere 0.1.0"));
        assert_eq!(here.len(), 20);
        for (hours, run_id, software) in [
            (90_000, "run", "logosphere 0.1.0"),
            (0, "canary-f3a91c", "logosphere 0.1.0"),
            (7, "another place", "logosphere 9.9.9"),
        ] {
            assert_eq!(hashes(&elsewhere(&settings, hours, run_id, software)), here);
        }
    }
}

#[test]
fn equal_samples_make_equal_requests_for_every_mind_in_every_round() {
    // Nobody says anything, so the same few samples are drawn again and again.
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some("silent".to_owned());
        settings.n_minds = 7;
        settings.k_samples = 1;
        settings.max_rounds = 30;
    });
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    let mut requests: BTreeMap<Vec<String>, (BTreeSet<String>, BTreeSet<u64>)> = BTreeMap::new();
    for (hash, texts, mind) in hashes(&journal) {
        let (hashes, minds) = requests.entry(texts).or_default();
        hashes.insert(hash);
        minds.insert(mind);
    }
    assert_eq!(requests.len(), 5);
    for (hashes, minds) in requests.values() {
        assert_eq!((hashes.len(), minds.len()), (1, 7));
    }
    // So minds could change their numbers, and the set of requests would be the same.
    let settings = settings.with(|settings| {
        settings.n_minds = 14;
        settings.max_rounds = 15;
    });
    let (_, other) = desk::run(&settings, desk::mind(&settings));
    let set = |journal: &[u8]| {
        hashes(journal)
            .into_iter()
            .map(|(hash, ..)| hash)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(set(&other), set(&journal));
}

fn client(provider: Arc<dyn Provider>) -> Client {
    Client::builder(provider, Arc::new(SystemClock::new()))
        .retry(RetryPolicy::default().send_count(false))
        .build()
        .unwrap()
}

#[test]
fn what_stays_on_this_side_of_a_call_is_in_no_request() {
    let stub = MindStub::start(MindScript::default());
    let endpoint = Endpoint::new(&stub.url(), Auth::None).unwrap();
    let mind = LlmMind::new(
        client(Arc::new(Compat::new(endpoint, Dialect::generic()))),
        "generic",
    );
    let settings = Settings::default();
    let prompt = format_prompt(&settings.prompt(), ["one", "two"].into_iter());
    let input = MindInput::new(prompt, settings.model_settings().into());
    let prepared = mind.request(&input).unwrap();
    let sides = [
        desk::side(1, 1, 0),
        desk::side(1, 1, 1),
        desk::side(1, 9, 0),
        desk::side(2, 1, 0),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for side in &sides {
        runtime.block_on(mind.respond(&input, side)).unwrap();
    }
    let requests = stub.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert_eq!(request.body, prepared.body);
        assert_eq!(request.headers, requests[0].headers);
    }
    for (name, value) in &prepared.headers {
        assert!(
            requests[0].headers.contains(&(name.clone(), value.clone())),
            "{name}"
        );
    }
}

#[test]
fn no_dialect_of_the_client_adds_anything() {
    let auth = || Auth::Bearer("key".into());
    let compat = |dialect| -> Arc<dyn Provider> {
        Arc::new(Compat::new(
            Endpoint::new("https://localhost/v1", auth()).unwrap(),
            dialect,
        ))
    };
    let anthropic = Endpoint::new("https://localhost", Auth::ApiKeyHeader("key".into())).unwrap();
    let providers: [(&str, Arc<dyn Provider>); 7] = [
        ("anthropic", Arc::new(Anthropic::new(anthropic))),
        ("openai", compat(Dialect::openai())),
        ("openrouter", compat(Dialect::openrouter())),
        ("llamacpp", compat(Dialect::llamacpp())),
        ("ollama", compat(Dialect::ollama())),
        ("vllm", compat(Dialect::vllm())),
        ("generic", compat(Dialect::generic())),
    ];
    for (name, provider) in providers {
        let mind = LlmMind::new(client(provider), name);
        for system_role in [false, true] {
            for options in 0..8 {
                let mut settings = Settings::default().with(|settings| {
                    settings.provider = name.into();
                    settings.system_role = system_role;
                });
                settings.options.temperature = (options & 1 > 0).then_some(0.7);
                settings.options.top_p = (options & 2 > 0).then_some(0.9);
                settings.options.reasoning = (options & 4 > 0).then(|| "low".to_owned());
                if name != "anthropic" {
                    settings.options.seed = (options & 1 > 0).then_some(5);
                }
                let Ok(template) = RequestTemplate::of(&mind, &settings, name) else {
                    // A model does not take every option.
                    assert_ne!(options, 0, "{name}");
                    continue;
                };
                let effective = Effective::new(settings, "test");
                let seeds = ["a text".to_owned()].into_iter();
                let start = ExperimentStart::new(effective, "run".to_owned(), seeds, template);
                assert_eq!(check_start(&start, &[]), [], "{name} {options}");
            }
        }
    }
}
