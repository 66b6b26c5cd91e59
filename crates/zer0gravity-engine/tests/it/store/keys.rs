//! The parts of a request that make two calls equal.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zer0gravity_engine::model::{CountRequest, Endpoint, ModelLabel, ModelRequest, Repeat};
use zer0gravity_engine::prompts::{Nonce, PromptMessage, PromptProfile, Role, RoleInput, render};
use zer0gravity_engine::store::CallKey;

use crate::desk::{Desk, plan};
use crate::player::{Player, label};

fn request() -> ModelRequest {
    let input = RoleInput::Encode {
        rules: "rules",
        text: "téxt",
    };
    ModelRequest::new(
        Role::Encoder,
        "m",
        render(PromptProfile::Plain, input, Nonce::default()),
    )
    .repeat(Repeat::default().trial(Some(1)))
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn a_key_is_the_hash_of_canonical_json() {
    let request = request();
    // Sorted keys, no white space; strings as serde_json writes them.
    let quoted = |text: &str| Value::from(text).to_string();
    let canonical = format!(
        concat!(
            r#"{{"endpoint":"messages","host":"models.test","json_schema":null,"max_tokens":4096,"#,
            r#""messages":[{{"content":"téxt","role":"user"}}],"model":"m","provider":"anthropic","#,
            r#""repeat":{{"trial":1}},"system":{},"version":1}}"#
        ),
        quoted(&request.prompt.system)
    );
    let key = CallKey::of_message(&request, &label());
    assert_eq!(key.to_string(), sha256(&canonical));
}

#[test]
fn the_program_that_judges_offline_is_in_the_key_of_its_calls() {
    let key = |role: Role, offline: bool| {
        let (mut request, mut label) = (request(), label());
        (request.role, label.offline) = (role, offline);
        CallKey::of_message(&request, &label)
    };
    assert_eq!(key(Role::SemanticJudge, false), key(Role::Encoder, false));
    assert_eq!(key(Role::Encoder, true), key(Role::Encoder, false));
    assert_ne!(key(Role::SemanticJudge, true), key(Role::Encoder, true));
}

#[test]
fn every_field_of_a_message_is_in_its_key() {
    type Change = fn(&mut ModelRequest, &mut ModelLabel);
    let changes: [(&str, Change); 18] = [
        ("nothing", |_, _| {}),
        ("provider", |_, label| label.provider += "x"),
        ("host", |_, label| label.host += ":80"),
        ("model", |request, _| request.model += "x"),
        ("system", |request, _| request.prompt.system += " "),
        ("text", |request, _| {
            request.prompt.messages[0].content += " ";
        }),
        ("turn", |request, _| {
            request.prompt.messages[0] = PromptMessage::assistant("téxt");
        }),
        ("turns", |request, _| {
            request.prompt.messages.push(PromptMessage::user(""));
        }),
        ("max_tokens", |request, _| request.prompt.max_tokens += 1),
        ("schema", |request, _| {
            request.prompt.json_schema = Some(json!({}));
        }),
        ("temperature", |request, _| request.temperature = Some(0.0)),
        ("hot", |request, _| request.temperature = Some(2.0)),
        ("trial", |request, _| request.repeat.trial = Some(2)),
        ("decode", |request, _| request.repeat.decode = Some(1)),
        ("sample", |request, _| request.repeat.sample = Some(1)),
        ("ask", |request, _| request.repeat.ask = Some(1)),
        ("case", |request, _| {
            request.repeat.case = Some("a".to_owned());
        }),
        ("encoding", |request, _| {
            request.repeat.encoding = Some("a".to_owned());
        }),
    ];
    let mut keys = HashMap::new();
    for (what, change) in changes {
        let (mut request, mut label) = (request(), label());
        change(&mut request, &mut label);
        let key = CallKey::of_message(&request, &label);
        assert_eq!(key.to_string().len(), 64);
        let before = keys.insert(key, what);
        assert_eq!(before, None, "{what} makes no other key");
    }
}

#[test]
fn every_field_of_a_count_is_in_its_key() {
    let count = |provider: &str, host: &str, model: &str, text: &str| {
        let label = ModelLabel::new(provider, host);
        let request = CountRequest::new(model, text);
        CallKey::of_count(&request, &label)
    };
    let keys: HashSet<_> = [
        count("p", "h", "m", "t"),
        count("q", "h", "m", "t"),
        count("p", "i", "m", "t"),
        count("p", "h", "n", "t"),
        count("p", "h", "m", "u"),
        // A count is never taken for a reply to the same words.
        CallKey::of_message(&request(), &label()),
        CallKey::of_count(&CountRequest::new("m", "téxt"), &label()),
    ]
    .into();
    assert_eq!(keys.len(), 7);
}

#[test]
fn each_role_repeats_over_its_own_numbers() {
    let names = |once: bool| {
        let mut plan = plan(&["abcdefghij"]);
        plan.config.trials = 2;
        plan.config.decodes = 2;
        plan.config.judge_samples = 2;
        plan.config.execute = true;
        plan.config.implementability_once = once;
        plan.cases[0].case.expected_output = Some("x".to_owned());
        let desk = Desk::default();
        desk.run(&Player::default(), &plan);
        let mut names: HashMap<String, HashSet<Vec<String>>> = HashMap::new();
        for record in desk.ledger.records() {
            let role = match record.role {
                Some(role) => format!("{role:?}"),
                None => "Count".to_owned(),
            };
            assert_eq!(
                record.role.is_none(),
                record.endpoint == Endpoint::CountTokens
            );
            let Value::Object(set) = serde_json::to_value(&record.repeat).unwrap() else {
                panic!("{:?}", record.repeat);
            };
            names
                .entry(role)
                .or_default()
                .insert(set.keys().cloned().collect());
        }
        names
    };
    let one = |names: &[&str]| -> HashSet<Vec<String>> {
        [names.iter().map(ToString::to_string).collect()].into()
    };
    let mut expected: HashMap<_, _> = [
        ("Count", one(&[])),
        ("Encoder", one(&["trial"])),
        ("Decoder", one(&["decode", "trial"])),
        ("Executor", one(&["decode", "trial"])),
        ("SemanticJudge", one(&["ask", "decode", "sample", "trial"])),
        (
            "ImplementabilityJudge",
            one(&["ask", "case", "decode", "encoding", "sample", "trial"]),
        ),
    ]
    .map(|(role, names)| (role.to_owned(), names))
    .into();
    assert_eq!(names(false), expected);
    // The numbers of the item would make it more than once.
    let judge = expected.get_mut("ImplementabilityJudge").unwrap();
    *judge = one(&["ask", "sample"]);
    assert_eq!(names(true), expected);
}

#[test]
fn z50_a_key_is_read_as_it_is_written_and_no_other_text_is() {
    let key = CallKey::of_message(&request(), &label());
    let json = serde_json::to_string(&key).unwrap();
    assert_eq!(json, format!("\"{key}\""));
    assert_eq!(serde_json::from_str::<CallKey>(&json).unwrap(), key);
    let text = key.to_string();
    for wrong in [
        &text[1..],
        &text[2..],
        &format!("{text}00"),
        &format!("g{}", &text[1..]),
        "",
    ] {
        let error = serde_json::from_value::<CallKey>(wrong.into()).unwrap_err();
        assert!(
            error.to_string().contains("expected 64 hex digits"),
            "{error}"
        );
    }
    // 32 bytes, for a run holds each key three times.
    assert_eq!(size_of::<CallKey>(), 32);
}
