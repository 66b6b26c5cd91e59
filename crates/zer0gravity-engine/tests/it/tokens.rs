//! The two token numbers of a result always come from one source.

use serde_json::json;
use test_support::CannedReply;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::model::ModelError;
use zer0gravity_engine::plan::{Config, EncodingSystem, ModelPair, Plan};
use zer0gravity_engine::prompts::{Nonce, PromptProfile, Role, RoleInput, render};
use zer0gravity_engine::{
    ExperimentResult, FailureKind, StageName, StageStatus, TokenSource, TokenUse,
};

use crate::desk::{Desk, only, plan};
use crate::player::{Player, fails, label, says, usual};
use crate::wire::{COUNT, MESSAGES, Wire, counts, plays};

/// Ten letters; its encoding has five.
const TEXT: &str = "abcdefghij";
const ENCODED: &str = "acegi";
/// The letters of both, by the tokenizer of the tests.
const LOCAL: [i64; 2] = [10, 5];
/// The input tokens that encoder and decoder report in these tests.
const INPUT: [u64; 2] = [1000, 900];

/// The tokens of the same prompts with a text of one token.
const MEASURED: [u64; 2] = [978, 884];
/// The reported tokens, less those of the prompts beyond one token.
const BY_USAGE: [i64; 2] = [23, 17];

/// Reports [`INPUT`], but for the roles that are silent.
fn reporting(silent: &'static [Role]) -> Player {
    Player::default().replies(move |request| {
        let mut reply = usual(request);
        reply.usage = match request.role {
            role if silent.contains(&role) => None,
            Role::Encoder => Some(input(INPUT[0])),
            Role::Decoder => Some(input(INPUT[1])),
            Role::MeasureEncoder => Some(input(MEASURED[0])),
            Role::MeasureDecoder => Some(input(MEASURED[1])),
            _ => reply.usage,
        };
        Ok(reply)
    })
}

fn input(input: u64) -> TokenUse {
    TokenUse::new(input, 5)
}

/// Does not count one of the two texts.
fn without(player: Player, text: &'static str, error: ModelError) -> Player {
    player.counts(move |request| {
        if request.text == text {
            Err(error.clone())
        } else {
            Ok(request.text.chars().count() as u64)
        }
    })
}

fn numbers(result: &ExperimentResult) -> (Option<TokenSource>, [Option<i64>; 2]) {
    let numbers = [result.original_tokens, result.encoded_tokens];
    (result.metadata.token_source, numbers)
}

/// Failures of a count that the experiment survives.
fn survivable() -> Vec<ModelError> {
    let unanswered = |kind: &str| fails(kind, 0).status(None);
    vec![
        fails("bad_request", 404),
        fails("model_unavailable", 404),
        fails("bad_request", 405),
        fails("server", 501),
        fails("server", 500),
        fails("overloaded", 529),
        fails("rate_limit", 429),
        fails("bad_request", 400),
        unanswered("estimate"),
        unanswered("network"),
        unanswered("timeout"),
        unanswered("bad_response"),
    ]
}

#[test]
fn the_provider_counts_both() {
    let player = reporting(&[]);
    let result = only(Desk::default().run(&player, &plan(&[TEXT])));
    let expected = (Some(TokenSource::Api), [Some(10), Some(5)]);
    assert_eq!(numbers(&result), expected);
    assert_eq!(player.counted(), [TEXT, ENCODED]);
    assert_eq!(result.details.compression_percent, Some(50.0));
}

/// The roles that do not report, the change of the plan, and the expected numbers.
type Silence = (&'static [Role], fn(&mut Plan), (TokenSource, [i64; 2]));

#[test]
fn a_failed_count_is_made_up_for_by_one_other_source() {
    let usage = (TokenSource::Usage, BY_USAGE);
    let local = (TokenSource::Local, LOCAL);
    let same = |_: &mut Plan| {};
    let other_decoder = |plan: &mut Plan| plan.config.models.decoder = "model-2".to_owned();
    let other_judge = |plan: &mut Plan| plan.config.models.judges = vec!["model-2".to_owned()];
    let cases: [Silence; 6] = [
        (&[], same, usage),
        (&[], other_judge, usage),
        (&[], other_decoder, local),
        (&[Role::Encoder], same, local),
        (&[Role::Decoder], same, local),
        (&[Role::Encoder, Role::Decoder], same, local),
    ];
    for error in survivable() {
        for text in [TEXT, ENCODED] {
            for (silent, change, (source, [original, encoded])) in cases {
                let player = without(reporting(silent), text, error.clone());
                let mut plan = plan(&[TEXT]);
                change(&mut plan);
                let result = only(Desk::default().run(&player, &plan));
                let what = format!("{error:?} on {text}, {silent:?} silent");
                assert!(result.outcome.is_ok(), "{what}");
                let expected = (Some(source), [Some(original), Some(encoded)]);
                assert_eq!(numbers(&result), expected, "{what}");
                let failed = if text == TEXT { 0 } else { 2 };
                let stage = &result.stages[failed];
                let seen = (stage.status, stage.attempts);
                assert_eq!(seen, (StageStatus::ApiError, 1), "{what}");
            }
        }
    }
}

#[test]
fn without_the_first_count_the_second_is_not_asked_for() {
    let player = without(reporting(&[]), TEXT, fails("bad_request", 404));
    let result = only(Desk::default().run(&player, &plan(&[TEXT])));
    assert_eq!(player.asked().len(), 7);
    assert_eq!(result.metadata.total_api_calls, 7);
    assert_eq!(result.stages[2].status, StageStatus::NotRun);
}

#[test]
fn z4_prompts_that_cannot_be_measured_leave_an_estimate() {
    type Change = fn(&mut Plan);
    type Measured = Result<Option<u64>, ModelError>;
    let nothing: Change = |_| {};
    let not_wanted: Change = |plan| plan.config.no_measure_tokens = true;
    let mut cases: Vec<(Role, Measured, Change, usize)> = vec![
        // As long as the whole prompt, and longer.
        (Role::MeasureEncoder, Ok(Some(INPUT[0] + 1)), nothing, 2),
        (Role::MeasureDecoder, Ok(Some(5000)), nothing, 2),
        (Role::MeasureDecoder, Ok(Some(0)), nothing, 2),
        (Role::MeasureEncoder, Ok(None), nothing, 2),
        (Role::MeasureEncoder, Ok(Some(900)), not_wanted, 0),
    ];
    cases.push((Role::MeasureDecoder, Err(fails("server", 500)), nothing, 2));
    for (role, measured, change, calls) in cases {
        let answer = measured.clone();
        let player = reporting(&[]).role(role, move || {
            let usage = answer.clone()?;
            Ok(says("b").usage(usage.map(input)))
        });
        let player = without(player, TEXT, fails("bad_request", 404));
        let mut plan = plan(&[TEXT]);
        change(&mut plan);
        let result = only(Desk::default().run(&player, &plan));
        let expected = (Some(TokenSource::Local), LOCAL.map(Some));
        assert!(result.outcome.is_ok());
        assert_eq!(numbers(&result), expected, "{role:?} {measured:?}");
        let asked = [Role::MeasureEncoder, Role::MeasureDecoder].map(|role| player.to(role).len());
        assert_eq!(asked.iter().sum::<usize>(), calls);
    }
}

#[test]
fn z4_prompts_are_measured_once_for_each_set_of_rules() {
    let texts = ["first text", "second one", "and a third"];
    let player = reporting(&[]).counts(|_| Err(fails("bad_request", 404)));
    let mut plan = plan(&texts);
    plan.config.trials = 2;
    let desk = Desk::default();
    let results = desk.run(&player, &plan);
    assert_eq!(results.len(), 6);
    let rules = &plan.encodings[0].rules;
    for (role, input) in [
        (Role::MeasureEncoder, RoleInput::Encode { rules, text: "a" }),
        (
            Role::MeasureDecoder,
            RoleInput::Decode {
                rules,
                encoded: "a",
            },
        ),
    ] {
        let asked = player.to(role);
        assert_eq!(asked.len(), 1);
        let own = render(PromptProfile::Plain, input, Nonce::default());
        assert_eq!(
            (&asked[0].prompt.system, &asked[0].prompt.messages),
            (&own.system, &own.messages)
        );
        assert_eq!(
            (own.messages[0].content.as_str(), asked[0].prompt.max_tokens),
            ("a", 16)
        );
    }
    // They are kept and used again.
    let before = player.asked().len();
    let again = desk.run(&player, &plan);
    assert_eq!(player.asked().len(), before);
    assert_eq!(numbers(&again[0]), numbers(&results[0]));
    // Where the provider counts, nothing is measured.
    let player = reporting(&[]);
    Desk::default().run(&player, &plan);
    assert!(player.to(Role::MeasureEncoder).is_empty());
}

/// A server that counts no text but reports its prompts: system and text by the tokenizer of the tests.
fn reports_prompts() -> Player {
    Player::default()
        .counts(|_| Err(fails("bad_request", 404)))
        .replies(|request| {
            let mut reply = usual(request);
            let prompt = &request.prompt;
            let text = &prompt.messages[0].content;
            let tokens = |text: &str| text.chars().count() as u64;
            reply.usage = Some(input(tokens(&prompt.system) + 3 + tokens(text)));
            Ok(reply)
        })
}

#[test]
fn z3_the_length_of_the_rules_does_not_enter_the_numbers() {
    for length in [15, 965, 3800] {
        let player = reports_prompts().role_with(Role::Encoder, |reply| {
            "x".repeat(17).clone_into(&mut reply.text);
        });
        let mut plan = plan(&["a text of 23 characters"]);
        plan.encodings = vec![EncodingSystem::new("rules", None, "r".repeat(length))];
        let result = only(Desk::default().run(&player, &plan));
        let expected = (Some(TokenSource::Usage), [Some(23), Some(17)]);
        assert_eq!(numbers(&result), expected, "{length}");
    }
}

#[test]
fn z3_a_result_says_how_its_tokens_are_counted_here() {
    for (model, tokenizer, numbers_of, error) in [
        (
            "claude-sonnet-4-5-20250929",
            "cl100k",
            [19, 13],
            "mean 3 %, worst 9 % (17 texts)",
        ),
        (
            "gpt-4o-mini",
            "o200k",
            [10, 5],
            "text exact, message overhead not counted",
        ),
        (
            "gpt-4.1",
            "o200k",
            [10, 5],
            "text exact, message overhead not counted",
        ),
        (
            "gpt-5-nano",
            "o200k",
            [10, 5],
            "text exact, message overhead not counted",
        ),
        (
            "o3-mini",
            "o200k",
            [10, 5],
            "text exact, message overhead not counted",
        ),
        ("gpt-x", "cl100k", [10, 5], "unknown for this model"),
    ] {
        let player = Player::default().counts(|_| Err(fails("bad_request", 404)));
        let mut plan = plan(&[TEXT]);
        plan.config = Config::new(label(), model);
        plan.config.no_measure_tokens = true;
        let result = only(Desk::default().run(&player, &plan));
        assert_eq!(
            numbers(&result),
            (Some(TokenSource::Local), numbers_of.map(Some)),
            "{model}"
        );
        let counter = result.metadata.token_counter.unwrap();
        assert_eq!(
            (counter.tokenizer.as_str(), counter.error.as_str()),
            (tokenizer, error)
        );
    }
}

#[test]
fn where_the_users_turn_holds_the_rules_too_its_tokens_are_not_the_texts() {
    for profile in [PromptProfile::Bands, PromptProfile::Guarded] {
        let player = reporting(&[]).counts(|_| Err(fails("bad_request", 404)));
        let mut plan = plan(&[TEXT]);
        plan.config.prompt_profile = profile;
        let result = only(Desk::default().run(&player, &plan));
        let expected = (Some(TokenSource::Local), LOCAL.map(Some));
        assert_eq!(numbers(&result), expected, "{profile:?}");
    }
}

#[test]
fn a_key_or_an_account_or_a_cap_at_its_end_ends_the_item() {
    for (text, stage) in [
        (TEXT, StageName::CountOriginal),
        (ENCODED, StageName::CountEncoded),
    ] {
        let ends = [
            ("auth", 401),
            ("quota", 402),
            ("budget", 200),
            ("price_unknown", 200),
        ];
        for (kind, status) in ends {
            let player = without(reporting(&[]), text, fails(kind, status));
            let plan = plan(&[TEXT]);
            let result = only(Desk::default().run(&player, &plan));
            let outcome = &result.outcome;
            let seen = (
                outcome.status,
                outcome.stage,
                outcome.kind.map(FailureKind::as_str),
            );
            let expected = (StageStatus::ApiError, Some(stage), Some(kind));
            assert_eq!(seen, expected);
            assert!(result.scores.is_none() && result.total.is_none());
            let begun = stage == StageName::CountEncoded;
            assert_eq!(result.encoded_text.is_some(), begun);
            // What was counted is kept; the other number is not made up.
            let counted = begun.then_some(10);
            let source = begun.then_some(TokenSource::Api);
            assert_eq!(numbers(&result), (source, [counted, None]));
            assert!(player.to(Role::Decoder).is_empty());
        }
    }
}

#[test]
fn the_tokens_of_one_encoder_are_of_one_source_for_all_decoders() {
    let sources = |models: [[&str; 2]; 2]| {
        let mut plan = plan(&[TEXT]);
        let pairs = models.map(|[encoder, decoder]| ModelPair::new(encoder, decoder));
        plan.config = plan.config.with_pairs(pairs);
        let player = reporting(&[]).counts(|_| Err(fails("bad_request", 404)));
        let results = Desk::one_by_one().run(&player, &plan).into_iter();
        let sources = results.map(|result| result.metadata.token_source);
        sources.collect::<Vec<_>>()
    };
    let crossed = sources([["a", "a"], ["a", "b"]]);
    assert_eq!(crossed, [Some(TokenSource::Local); 2]);
    let paired = sources([["a", "a"], ["b", "b"]]);
    assert_eq!(paired, [Some(TokenSource::Usage); 2]);
}

#[test]
fn a_provider_that_does_not_count_is_asked_once_in_a_run() {
    let texts = ["first text", "second one", "and a third", "the last"];
    let remembered = [
        fails("bad_request", 404),
        fails("bad_request", 405),
        fails("server", 501),
        fails("estimate", 0).status(None),
    ];
    for error in remembered {
        let again = error.clone();
        let player = reporting(&[]).counts(move |_| Err(again.clone()));
        let results = Desk::one_by_one().run(&player, &plan(&texts));
        assert_eq!(player.counted(), [texts[0]], "{error:?}");
        let sources = results.iter().map(|result| result.metadata.token_source);
        assert!(sources.eq([Some(TokenSource::Usage); 4]));
        // A call that nobody made is none.
        let calls: Vec<_> = (results.iter())
            .map(|result| (result.metadata.total_api_calls, result.metadata.retries))
            .collect();
        assert_eq!(calls, [(7, 0), (6, 0), (6, 0), (6, 0)], "{error:?}");
    }
    // Of an encoding, too; what was counted before is not mixed in.
    let player = reporting(&[]).counts(move |request| {
        if request.text == texts[0] {
            Ok(10)
        } else {
            Err(fails("bad_request", 404))
        }
    });
    let results = Desk::one_by_one().run(&player, &plan(&texts));
    assert_eq!(player.counted().len(), 2);
    let sources = results.iter().map(|result| result.metadata.token_source);
    assert!(sources.eq([Some(TokenSource::Usage); 4]));
}

#[test]
fn other_failures_of_a_count_are_not_remembered() {
    let texts = ["first text", "second one", "and a third"];
    let player = reporting(&[]).counts(move |request| {
        if request.text == texts[0] {
            Err(fails("server", 500))
        } else {
            Ok(10)
        }
    });
    let results = Desk::one_by_one().run(&player, &plan(&texts));
    let sources: Vec<_> = (results.iter())
        .map(|result| result.metadata.token_source.unwrap())
        .collect();
    let (api, usage) = (TokenSource::Api, TokenSource::Usage);
    assert_eq!(sources, [usage, api, api]);
    assert_eq!(player.counted().len(), 5);
}

#[test]
fn a_call_that_was_not_made_hides_no_repetition() {
    // Each encoding takes two attempts.
    let player = Player::default()
        .counts(|_| Err(fails("bad_request", 404)))
        .role(Role::Encoder, || {
            let mut reply = says("shrt");
            reply.call.attempts = 2;
            Ok(reply)
        });
    let results = Desk::one_by_one().run(&player, &plan(&["first text", "second one"]));
    let retries: Vec<_> = (results.iter())
        .map(|result| result.metadata.retries)
        .collect();
    assert_eq!(retries, [1, 1]);
}

#[test]
fn a_blank_text_makes_no_call() {
    let player = Player::default();
    let blank = " \u{feff}\u{a0}\n\t";
    let results = Desk::default().run(&player, &plan(&["", blank, "not blank"]));
    for result in &results[..2] {
        let outcome = &result.outcome;
        let ended = (outcome.status, outcome.stage);
        assert_eq!(ended, (StageStatus::Empty, Some(StageName::CountOriginal)));
        assert_eq!(result.metadata.total_api_calls, 0);
        assert!(result.scores.is_none());
    }
    assert!(results[2].outcome.is_ok());
    assert_eq!(player.asked().len(), 6);
    // ECMAScript's white space does not hold this one: it is a text.
    let player = Player::default().role(Role::Encoder, || Ok(says("x")));
    let result = only(Desk::default().run(&player, &plan(&["\u{85}"])));
    assert!(result.outcome.is_ok());
    assert_eq!(player.counted(), ["\u{85}", "x"]);
}

#[tokio::test]
async fn statuses_of_a_real_count_come_to_the_same() {
    // (status of the first count, of the second) -> requests for counts of two items.
    let cases = [
        ([404, 200], 1),
        ([405, 200], 1),
        ([501, 200], 1),
        ([200, 404], 2),
        ([200, 405], 2),
        ([200, 501], 2),
    ];
    for (statuses, asked) in cases {
        let mut counted = 0;
        let wire = Wire::new(move |path, body| {
            if path != COUNT {
                let [encoder, decoder] = if body["max_tokens"] == 16 {
                    MEASURED
                } else {
                    INPUT
                };
                return plays(body, encoder, decoder);
            }
            counted += 1;
            match statuses[(counted - 1) % 2] {
                200 => counts(body),
                status => (
                    status,
                    CannedReply::anthropic_error("not_found_error", "no route"),
                ),
            }
        });
        let plan = plan(&[TEXT, "another"]);
        let run = Desk::one_by_one();
        let run = run.quietly(&wire.client, &plan, CancellationToken::new());
        let report = run.await.unwrap();
        for result in &report.results {
            let expected = (Some(TokenSource::Usage), BY_USAGE.map(Some));
            assert_eq!(numbers(result), expected, "{statuses:?}");
        }
        let sent = wire.sent();
        let counts = sent.iter().filter(|(path, _)| path == COUNT).count();
        assert_eq!(counts, asked, "{statuses:?}");
    }
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again_for_the_next_count() {
    let mut failing = true;
    let wire = Wire::new(move |path, body| match path {
        COUNT if failing && body.to_string().contains(TEXT) => {
            let body = CannedReply::anthropic_error("api_error", "internal");
            (500, body)
        }
        COUNT => {
            failing = false;
            counts(body)
        }
        _ => plays(body, INPUT[0], INPUT[1]),
    });
    let plan = plan(&[TEXT, "another"]);
    let run = Desk::one_by_one();
    let run = run.quietly(&wire.client, &plan, CancellationToken::new());
    let report = run.await.unwrap();
    let sources: Vec<_> = (report.results.iter())
        .map(|result| result.metadata.token_source.unwrap())
        .collect();
    assert_eq!(sources, [TokenSource::Usage, TokenSource::Api]);
}

#[tokio::test]
async fn cached_tokens_of_a_prompt_are_tokens() {
    let wire = Wire::new(|path, body| {
        if path != MESSAGES {
            return (
                404,
                CannedReply::anthropic_error("not_found_error", "no route"),
            );
        }
        let [encoder, decoder] = if body["max_tokens"] == 16 {
            [78, 34]
        } else {
            [100, 50]
        };
        let (status, reply) = plays(body, encoder, decoder);
        let mut reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        let input = reply["usage"]["input_tokens"].as_u64().unwrap();
        reply["usage"] = json!({
            "input_tokens": input,
            "cache_read_input_tokens": 700,
            "cache_creation_input_tokens": if input > 50 { 200 } else { 150 },
            "output_tokens": 5,
        });
        (status, reply.to_string())
    });
    let plan = plan(&[TEXT]);
    let run = Desk::default();
    let run = run.quietly(&wire.client, &plan, CancellationToken::new());
    let result = only(run.await.unwrap().results);
    let expected = (Some(TokenSource::Usage), BY_USAGE.map(Some));
    assert_eq!(numbers(&result), expected);
}
