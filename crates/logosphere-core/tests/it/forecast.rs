//! The estimate of a run, compared with runs.

use std::sync::Arc;

use llm_client::{Auth, Client, Compat, Dialect, Endpoint, RetryPolicy, SystemClock};
use logosphere_core::config::Scheduling;
use logosphere_core::experiment::{AnswerProfile, Estimate, TokenPrices};
use logosphere_core::journal::MemJournal;
use logosphere_core::{LlmMind, Orchestrator, RunControl, Settings, Transcript};
use test_support::{MindMode, MindScript, MindStub};

use crate::desk::{self, Ticking};

const PRICES: TokenPrices = TokenPrices {
    prompt: 3.0,
    answer: 15.0,
};

fn exact(answers: f64, bytes: f64) -> AnswerProfile {
    let mut profile = AnswerProfile::of_model(1, None);
    profile.tokens = 10.0;
    profile.messages = answers;
    profile.message_bytes = bytes;
    profile.bytes_per_token = 1.0;
    profile.call_ms = [100.0, 1000.0];
    profile
}

/// Two minds that read at most two of the newest three messages, after a system prompt of 10 bytes.
fn small(scheduling: Scheduling) -> Settings {
    Settings::default().with(|settings| {
        settings.n_minds = 2;
        settings.k_samples = 2;
        settings.m_active_pool = 3;
        settings.max_rounds = 2;
        settings.system_prompt = "0123456789".into();
        settings.scheduling = scheduling;
    })
}

#[test]
fn a_small_run_by_hand() {
    // Each call adds one message of 7 bytes; each separator has 5.
    let tell = |scheduling, seeds: &[usize]| {
        let told = Estimate::of(
            &small(scheduling),
            seeds,
            None,
            exact(1.0, 7.0),
            Some(PRICES),
        );
        (told.whole.prompt_tokens, told.longest_prompt_tokens)
    };
    // Windows: 1; 1 7; 1 7 7; 7 7 7. Means: 1; 4; 5; 7. Read: 1, 2, 2, 2.
    let sequential = (10 + 6) + (10 + 18) + (10 + 20) + (10 + 24);
    assert_eq!(tell(Scheduling::Sequential, &[1]), (sequential, 34));
    // Windows: 1; 1; 1 7 7; 1 7 7.
    let snapshot = 2 * (10 + 6) + 2 * (10 + 20);
    assert_eq!(tell(Scheduling::Snapshot, &[1]), (snapshot, 30));
    // Of four seeds the first is never seen. Windows: 2 3 4; 3 4 7; 4 7 7; 7 7 7.
    let crowded = (40.0 + 2.0 * (9.0 / 3.0 + 14.0 / 3.0 + 18.0 / 3.0 + 7.0) + 40.0_f64).round();
    assert_eq!(
        tell(Scheduling::Sequential, &[900, 2, 3, 4]).0,
        crowded as u64
    );
    // Nothing to read, ever.
    let silent = Estimate::of(
        &small(Scheduling::Sequential),
        &[],
        None,
        exact(0.0, 0.0),
        None,
    );
    assert_eq!(silent.whole.prompt_tokens, 40);
}

fn milliseconds(told: &Estimate) -> [u64; 2] {
    told.wall_seconds
        .map(|seconds| (seconds * 1e3).round() as u64)
}

#[test]
fn money_and_time_follow() {
    let settings = small(Scheduling::Sequential);
    let told = Estimate::of(&settings, &[1], None, exact(1.0, 7.0), Some(PRICES));
    assert_eq!((told.whole.calls, told.whole.completion_tokens), (4, 40));
    let usd = (108.0 * 3.0 + 40.0 * 15.0) / 1e6;
    assert!((told.whole.usd.unwrap() - usd).abs() < 1e-12);
    assert!((told.longest.completion_tokens) == 4 * 2000);
    assert!(told.longest.usd > told.whole.usd);
    assert_eq!(milliseconds(&told), [400, 4000]);
    let unpriced = Estimate::of(&settings, &[1], None, exact(1.0, 7.0), None);
    assert_eq!((unpriced.whole.usd, unpriced.longest.usd), (None, None));
    // Five minds, two calls at a time: three waves in each of two rounds.
    let waves = small(Scheduling::Snapshot).with(|settings| {
        settings.n_minds = 5;
        settings.concurrency = 2;
    });
    let told = Estimate::of(&waves, &[1], None, exact(1.0, 7.0), None);
    assert_eq!(milliseconds(&told), [600, 6000]);
}

#[test]
fn the_largest_run_is_told_at_once_and_a_run_of_none_too() {
    let largest = small(Scheduling::Snapshot).with(|settings| {
        settings.n_minds = 65_535;
        settings.max_rounds = u32::MAX;
        settings.m_active_pool = usize::MAX;
        settings.k_samples = usize::MAX;
    });
    let told = Estimate::of(&largest, &[1], None, exact(1.0, 7.0), Some(PRICES));
    assert_eq!(told.whole.calls, 65_535 * u64::from(u32::MAX));
    let none = small(Scheduling::Snapshot).with(|settings| settings.max_rounds = 0);
    let told = Estimate::of(&none, &[1], None, exact(1.0, 7.0), Some(PRICES));
    assert_eq!((told.whole.calls, told.whole.usd), (0, Some(0.0)));
}

/// Tells far ends of steps from one sum over all calls.
#[test]
fn steps_change_little() {
    let long = small(Scheduling::Sequential).with(|settings| {
        settings.n_minds = 3;
        settings.max_rounds = 1_000_000;
        settings.m_active_pool = 2_000_000;
    });
    let told = Estimate::of(&long, &[1; 100], None, exact(1.0, 7.0), None);
    // The mean of the window after n calls is (100 + 7 n) / (100 + n), and all old ones are gone at the end.
    let mean = |n: f64| (100.0 + 7.0 * n) / (100.0 + n);
    let window = |n: u64| if n < 1_999_900 { mean(n as f64) } else { 7.0 };
    let exact: f64 = (0..3_000_000).map(|n| 10.0 + 2.0 * (window(n) + 5.0)).sum();
    let error = (told.whole.prompt_tokens as f64 / exact - 1.0).abs();
    assert!(error < 1e-5, "{error}");
}

fn stub_settings(scheduling: Scheduling, rounds: u32) -> Settings {
    Settings::default().with(|settings| {
        settings.provider = "openrouter".into();
        settings.model = "m".into();
        settings.seed = 7;
        settings.n_minds = 4;
        settings.m_active_pool = 12;
        settings.max_rounds = rounds;
        settings.scheduling = scheduling;
    })
}

/// A run against the stub.
fn played(stub: &MindStub, settings: &Settings) -> Transcript {
    let endpoint = Endpoint::new(&stub.url(), Auth::None).unwrap();
    let provider = Arc::new(Compat::new(endpoint, Dialect::openrouter()));
    let retry = RetryPolicy::default().send_count(false);
    let client = Client::builder(provider, Arc::new(SystemClock::new()))
        .retry(retry)
        .build()
        .unwrap();
    let mind = LlmMind::new(client, "openrouter");
    let start = desk::start(settings, &mind);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let journal = runtime.block_on(async {
        let (journal, clock) = (MemJournal::default(), Ticking::default());
        let mut run =
            Orchestrator::start(start, mind, journal, clock, RunControl::default()).unwrap();
        run.run(&mut |_| {}).await.unwrap();
        run.into_journal().bytes
    });
    Transcript::read(journal.as_slice()).unwrap()
}

#[track_caller]
fn near(forecast: f64, actual: f64) {
    let off = forecast / actual - 1.0;
    assert!(off.abs() <= 0.1, "{forecast} for {actual}: {off:+.3}");
}

/// Within a tenth of what the server billed.
#[track_caller]
fn held_against(told: &Estimate, stub: &MindStub) {
    let stats = stub.stats();
    assert_eq!(told.whole.calls, stats.requests as u64);
    near(told.whole.prompt_tokens as f64, stats.billed.prompt as f64);
    near(
        told.whole.completion_tokens as f64,
        stats.billed.completion as f64,
    );
    near(told.whole.usd.unwrap(), stats.billed.usd);
}

#[test]
fn a_forecast_before_the_first_call_comes_near_the_run() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let stub = MindStub::start(MindScript {
            mode: MindMode::Literal {
                texts: 2,
                bytes: 200,
            },
            cost: Some([PRICES.prompt, PRICES.answer]),
            ..MindScript::default()
        });
        let settings = stub_settings(scheduling, 10);
        let seeds: Vec<_> = desk::seeds().map(|seed| seed.len()).collect();
        // The answer has 200 bytes twice and four delimiters, and the server counts a token for four bytes.
        let mut answers = AnswerProfile::of_model(settings.token_limit, Some(107));
        answers.messages = 2.0;
        answers.message_bytes = 200.0;
        let told = Estimate::of(&settings, &seeds, None, answers, Some(PRICES));
        assert_eq!(stub.stats().requests, 0);
        played(&stub, &settings);
        held_against(&told, &stub);
    }
}

#[test]
fn what_a_short_run_measured_comes_near_a_long_one() {
    let stub = MindStub::start(MindScript {
        cost: Some([PRICES.prompt, PRICES.answer]),
        ..MindScript::default()
    });
    let short = stub_settings(Scheduling::Sequential, 6);
    let long = stub_settings(Scheduling::Sequential, 30);
    let run = played(&stub, &short);
    let answers = AnswerProfile::measured(&short, &run).unwrap();
    assert!(answers.measured);
    near(answers.bytes_per_token, 4.0);
    let seeds = [];
    // With a price list, and with what was charged.
    for prices in [Some(PRICES), None] {
        let told = Estimate::of(&long, &seeds, Some(&run), answers, prices);
        assert_eq!((told.done.calls, told.left.calls), (24, 96));
        stub.forget();
        played(&stub, &long);
        held_against(&told, &stub);
    }
}

#[test]
fn a_run_without_an_answer_measures_nothing() {
    let settings = stub_settings(Scheduling::Sequential, 2);
    assert_eq!(
        AnswerProfile::measured(&settings, &Transcript::default()),
        None
    );
}

#[test]
fn programs_are_told_as_well() {
    let settings = desk::settings(Scheduling::Sequential);
    let seeds: Vec<_> = desk::seeds().map(|seed| seed.len()).collect();
    let told = Estimate::of(
        &settings,
        &seeds,
        None,
        AnswerProfile::of_program(&settings, &seeds),
        None,
    );
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    let run = Transcript::read(journal.as_slice()).unwrap();
    let actual = |part: usize| run.calls.iter().map(|call| call.tokens[part]).sum::<u64>();
    assert_eq!(told.whole.calls, run.calls.len() as u64);
    near(told.whole.prompt_tokens as f64, actual(0) as f64);
    assert_eq!(told.whole.usd, Some(0.0));
}
