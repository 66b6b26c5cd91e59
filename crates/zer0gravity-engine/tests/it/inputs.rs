//! Structs that callers fill: each is made by a constructor, so that another field breaks no caller.

use jiff::Timestamp;
use llm_types::StopReason;
use llm_types::{ErrorClass, Usd};
use serde_json::{Value, json};
use zer0gravity_engine::TokenUse;
use zer0gravity_engine::dataset::{Case, RoundTripSample};
use zer0gravity_engine::judge::flags::FlagInput;
use zer0gravity_engine::judge::score::TokenPair;
use zer0gravity_engine::model::{
    CallFacts, CountRequest, Endpoint, ModelError, ModelLabel, ModelReply, ModelRequest,
    PromptInputs, Repeat, TokenCount,
};
use zer0gravity_engine::plan::{Config, EncodingSystem, Plan, PlannedCase, RoleConfig};
use zer0gravity_engine::prompts::{Nonce, PromptProfile, Role, RoleInput, render};
use zer0gravity_engine::report::ReportedEncodingSystem;
use zer0gravity_engine::result::Models;
use zer0gravity_engine::rules::lint::LintReport;
use zer0gravity_engine::run::pipeline::PriceList;
use zer0gravity_engine::store::{CallKey, CallRecord, StoredAnswer};

/// The keys of a value in JSON: a setter that sets no field or another one changes them.
fn keys(value: impl serde::Serialize) -> Vec<String> {
    let object: serde_json::Map<String, Value> = serde_json::from_value(json!(value)).unwrap();
    let set = object.into_iter().filter(|(_, value)| !value.is_null());
    set.map(|(key, _)| key).collect()
}

#[test]
fn z51_what_a_plan_holds_is_made_by_constructors() {
    let case = Case::new("a", "text")
        .expected_output(Some("x".to_owned()))
        .explanation(Some("y".to_owned()))
        .genre(Some("z".to_owned()))
        .tags(vec!["t".to_owned()]);
    let expected = [
        "expectedOutput",
        "explanation",
        "genre",
        "id",
        "tags",
        "text",
    ];
    let mut found = keys(&case);
    found.sort();
    assert_eq!(found, expected);
    let label = ModelLabel::new("p", "h").offline(true);
    let mut config = Config::new(label, "m");
    config.models = Models::new("m")
        .encoder("e".to_owned())
        .decoder("d".to_owned())
        .judges(vec!["j".to_owned()]);
    let expected = json!({"encoder": "e", "decoder": "d", "judges": ["j"]});
    assert_eq!(json!(config.models), expected);
    let cases = vec![PlannedCase::new(case.clone()).level(Some(3))];
    let plan = Plan::new(
        vec![EncodingSystem::new("r", None, "drop vowels")],
        cases,
        config,
    );
    let value = json!(plan);
    assert_eq!(value["cases"][0]["level"], 3);
    assert_eq!(
        value["config"]["port"],
        json!({"provider": "p", "host": "h", "offline": true})
    );
    assert_eq!(plan.items().count(), 1);
    let sample = RoundTripSample::new(case, "e", "d")
        .encoding_id("i".to_owned())
        .encoding_system(Some("s".to_owned()))
        .tokens(Some(TokenPair {
            original: 2,
            encoded: 1,
        }))
        .semantic_score(Some(30))
        .implementability_score(Some(4));
    let texts = (
        &*sample.encoded_text,
        &*sample.decoded_text,
        &*sample.encoding_id,
    );
    assert_eq!(texts, ("e", "d", "i"));
    assert_eq!(sample.encoding_system.as_deref(), Some("s"));
    assert_eq!(
        (sample.semantic_score, sample.implementability_score),
        (Some(30), Some(4))
    );
    assert_eq!(sample.tokens.map(|pair| pair.encoded), Some(1));
    let rules = ReportedEncodingSystem::new("r", "hash")
        .path(Some("r.txt".to_owned()))
        .rules_tokens(Some(7))
        .lint(LintReport::default());
    assert_eq!(
        (rules.rules_tokens, rules.path.as_deref()),
        (Some(7), Some("r.txt"))
    );
}

#[test]
fn z51_calls_are_made_by_constructors() {
    let input = RoleInput::Implementability { rules: "r" };
    let prompt = render(PromptProfile::Plain, input, Nonce::default());
    let repeat = Repeat::default()
        .encoding(Some("e".to_owned()))
        .case(Some("c".to_owned()))
        .trial(Some(1))
        .decode(Some(2))
        .sample(Some(3))
        .ask(Some(1));
    let expected =
        json!({"encoding": "e", "case": "c", "trial": 1, "decode": 2, "sample": 3, "ask": 1});
    assert_eq!(json!(repeat), expected);
    let inputs = PromptInputs::default()
        .rules("r".to_owned())
        .texts(vec!["t".to_owned()]);
    let request = ModelRequest::new(Role::ImplementabilityJudge, "m", prompt)
        .inputs(inputs)
        .repeat(repeat.clone());
    assert_eq!(
        (&*request.inputs.rules, request.inputs.texts.len()),
        ("r", 1)
    );
    assert_eq!(request.repeat, repeat);
    let call = CallFacts::default()
        .started_at(Some(Timestamp::UNIX_EPOCH))
        .elapsed_ms(4)
        .attempts(2);
    let reply = ModelReply::new("text")
        .stop(StopReason::MaxTokens)
        .usage(Some(TokenUse::new(2, 1)))
        .cost(Some(Usd(3)))
        .call(call);
    let expected = json!({
        "text": "text", "stop": "max_tokens", "usage": {"input": 2, "output": 1}, "costNanos": 3,
        "call": {"startedAt": "1970-01-01T00:00:00Z", "elapsedMs": 4, "attempts": 2},
    });
    assert_eq!(json!(reply), expected);
    let count = TokenCount::new(7).call(call);
    assert_eq!((count.tokens, count.call.attempts), (7, 2));
    let error = ModelError::unsent(ErrorClass::Network, "no route")
        .status(Some(503))
        .call(call)
        .stopped(true);
    assert_eq!(
        (error.status, error.call.attempts, error.stopped),
        (Some(503), 2, true)
    );
    let asked = CountRequest::new("m", "text");
    let key = CallKey::of_count(&asked, &ModelLabel::new("p", "h"));
    let record = CallRecord::new(key, Endpoint::CountTokens, "m", StoredAnswer::Count(count))
        .role(Some(Role::Encoder))
        .repeat(repeat);
    let record = json!(record);
    assert_eq!(
        (&record["role"], &record["repeat"]["ask"]),
        (&json!("encoder"), &json!(1))
    );
    let prices = PriceList::new("list", Usd(5));
    assert_eq!((&*prices.name, prices.input), ("list", Usd(5)));
    assert_eq!(RoleConfig::new("m").model, "m");
}

#[test]
fn z51_each_setter_of_a_flag_input_sets_its_field() {
    let input = FlagInput::new("", "", "", "")
        .rules("r")
        .encoder_prompt("p")
        .original("o")
        .encoding("e")
        .decoded("d")
        .expected_output(Some("x"))
        .original_tokens(2)
        .encoded_tokens(1)
        .semantic(Some(30))
        .chrf_pp(50.0)
        .atoms(None);
    let expected = "FlagInput { rules: \"r\", encoder_prompt: \"p\", original: \"o\", encoding: \"e\", decoded: \"d\", \
        expected_output: Some(\"x\"), original_tokens: 2, encoded_tokens: 1, semantic: Some(30), chrf_pp: 50.0, \
        atoms: None }";
    assert_eq!(format!("{input:?}"), expected);
}
