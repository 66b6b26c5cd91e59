//! The prompts: the seed's byte for byte, the others as they are, and the requests that carry them.

mod requests;

use std::fmt::Write as _;

use zer0gravity_engine::prompts::{EXECUTOR, Nonce, Prompt, PromptProfile, RoleInput, render};

const RULES: &str = "RULES-9ab";

fn inputs(rules: &str) -> [RoleInput<'_>; 5] {
    [
        RoleInput::Encode {
            rules,
            text: "the text",
        },
        RoleInput::Decode {
            rules,
            encoded: "the encoding",
        },
        RoleInput::Semantic {
            original: "the text",
            decoded: "the decoded text",
            prompt: None,
        },
        RoleInput::Implementability { rules },
        RoleInput::Execute {
            decoded: "the decoded text",
        },
    ]
}

fn nonce() -> Nonce {
    Nonce::drawn(7, b"a call")
}

#[test]
fn the_seed_profile_is_the_users_text() {
    let hashes = [
        "28a6f53257217f5c",
        "42100d79b7db86a5",
        "1826365fbb84e456",
        "fa32c1abc8720b0c",
    ];
    for (input, hash) in inputs(RULES).into_iter().zip(hashes) {
        let prompt = render(PromptProfile::Plain, input, Nonce::default());
        assert_eq!(prompt.sha256.get(..16), Some(hash), "{input:?}");
    }
}

#[test]
fn rules_that_hold_the_placeholder_are_not_expanded_again() {
    let rules = "say {encodingSystem}, then {encodingSystem}";
    for profile in [PromptProfile::Plain, PromptProfile::Bands] {
        for input in inputs(rules) {
            let prompt = render(profile, input, nonce());
            let whole = prompt.system + &prompt.messages[0].content;
            let knows = !matches!(
                input,
                RoleInput::Semantic { .. } | RoleInput::Execute { .. }
            );
            let found = whole.matches("{encodingSystem}").count();
            assert_eq!(found, if knows { 2 } else { 0 }, "{profile:?} {input:?}");
            assert_eq!(whole.contains(rules), knows, "{profile:?} {input:?}");
        }
    }
}

#[test]
fn limits_and_schemas() {
    for profile in [
        PromptProfile::Plain,
        PromptProfile::Bands,
        PromptProfile::Guarded,
    ] {
        let prompts = inputs(RULES).map(|input| render(profile, input, nonce()));
        let limits = prompts.each_ref().map(|prompt| prompt.max_tokens);
        assert_eq!(limits, [4096, 4096, 512, 512, 1024]);
        let schemas = prompts
            .each_ref()
            .map(|prompt| prompt.json_schema.is_some());
        let judges = profile == PromptProfile::Guarded;
        assert_eq!(schemas, [false, false, judges, judges, false]);
        assert_eq!(prompts[4].system, EXECUTOR);
        assert_eq!(prompts[4].messages[0].content, "the decoded text");
        for prompt in &prompts {
            assert_eq!(prompt.messages.len(), 1);
        }
    }
}

fn shown(prompts: &[Prompt]) -> String {
    prompts.iter().fold(String::new(), |mut all, prompt| {
        let Prompt {
            system, messages, ..
        } = prompt;
        let user = &messages[0].content;
        writeln!(all, "=== SYSTEM\n{system}\n=== USER\n{user}\n").unwrap();
        if let Some(schema) = &prompt.json_schema {
            writeln!(all, "=== SCHEMA\n{schema:#}\n").unwrap();
        }
        all
    })
}

#[test]
fn bands() {
    let prompts = inputs(RULES).map(|input| render(PromptProfile::Bands, input, nonce()));
    // Section 4: the rules stand in the decoder's user turn, and the bands and anchors are these.
    assert!(!prompts[1].system.contains(RULES));
    assert!(prompts[1].messages[0].content.contains(RULES));
    for band in ["36 to 40", "28 to 35", "16 to 27", "6 to 15", "0 to 5"] {
        assert!(
            prompts[2].system.contains(&format!("\n- {band}: ")),
            "{band}"
        );
    }
    for anchor in 0..=5 {
        let anchor = format!("\n- {anchor}: ");
        assert!(prompts[3].system.contains(&anchor), "{anchor}");
    }
    insta::assert_snapshot!(shown(&prompts));
}

#[test]
fn guarded() {
    let prompts = inputs(RULES).map(|input| render(PromptProfile::Guarded, input, nonce()));
    // Contestants' words stand in no system prompt, and the reason comes before the score.
    for prompt in &prompts {
        assert!(!prompt.system.contains(RULES));
    }
    for judge in &prompts[2..4] {
        let system = &judge.system;
        assert!(system.find("\"reasoning\"") < system.find("\"score\""));
    }
    insta::assert_snapshot!(shown(&prompts));
}

#[test]
fn a_nonce_follows_from_seed_and_coordinates_alone() {
    assert_eq!(nonce(), Nonce::drawn(7, b"a call"));
    assert_ne!(nonce(), Nonce::drawn(8, b"a call"));
    assert_ne!(nonce(), Nonce::drawn(7, b"b call"));
}
