//! The parts of a prompt follow from its text alone.

use logosphere_core::format::{ParseMode, PromptRole, SystemPrompt, format_prompt};
use logosphere_core::pool::{Origin, Pool, PoolError, Retention};
use proptest::prelude::*;

/// Returns the texts after the system prompt: cut at lines that are exactly `---` and a line feed, one line feed less
/// on each
fn texts(prompt: &str, system: &str) -> Vec<String> {
    let messages = prompt.strip_prefix(system).unwrap();
    let Some(messages) = messages.strip_prefix('\n') else {
        assert_eq!(messages, "");
        return Vec::new();
    };
    let mut texts: Vec<String> = Vec::new();
    for line in messages.split_inclusive('\n') {
        if line == "---\n" {
            if let Some(text) = texts.last_mut() {
                assert_eq!(text.pop(), Some('\n'));
            }
            texts.push(String::new());
        } else {
            texts.last_mut().unwrap().push_str(line);
        }
    }
    texts
}

fn system(role: PromptRole) -> SystemPrompt {
    SystemPrompt::new(SystemPrompt::DEFAULT, role)
}

#[test]
fn a_prompt_is_the_system_prompt_and_the_texts() {
    let prompt = format_prompt(&system(PromptRole::User), ["a\n", "", "b"].into_iter());
    let default = "You receive messages from others. Read them.\n\
        You may write messages to share with others.\n\n\
        Format: Messages separated by --- on its own line.\n\
        To finish, write a blank message (two --- with nothing between).";
    assert_eq!(SystemPrompt::DEFAULT, default);
    assert_eq!(prompt.text(), format!("{default}\n---\na\n\n---\n\n---\nb"));
    assert_eq!((prompt.system(), prompt.user()), (None, prompt.text()));
    let alone = format_prompt(&system(PromptRole::User), [].into_iter());
    assert_eq!(alone.text(), default);
    assert_eq!(alone.user(), default);
    assert_eq!(
        alone.sha256(),
        "60238edd67821777099f316076ec145cae88663742e329383899114376a1854c"
    );
}

#[test]
fn the_system_can_say_its_prompt_itself() {
    let prompt = format_prompt(&system(PromptRole::System), ["a", "b"].into_iter());
    assert_eq!(prompt.system(), Some(SystemPrompt::DEFAULT));
    assert_eq!(prompt.user(), "a\n---\nb");
    // The whole text does not depend on who says what.
    let user = format_prompt(&system(PromptRole::User), ["a", "b"].into_iter());
    assert_eq!(
        (prompt.text(), prompt.sha256()),
        (user.text(), user.sha256())
    );
    let alone = format_prompt(&system(PromptRole::System), [].into_iter());
    assert_eq!(
        (alone.system(), alone.user()),
        (Some(SystemPrompt::DEFAULT), "")
    );
    let nothing = format_prompt(
        &SystemPrompt::new("", PromptRole::System),
        ["a"].into_iter(),
    );
    assert_eq!((nothing.system(), nothing.user()), (None, "a"));
}

#[test]
fn a_system_prompt_may_hold_a_delimiter_line() {
    for (text, holds) in [
        ("---", true),
        ("a\n---\nb", true),
        ("a\n---", true),
        ("a --- b", false),
        ("--- ", false),
        (SystemPrompt::DEFAULT, false),
    ] {
        let prompt = SystemPrompt::new(text, PromptRole::User);
        assert_eq!(prompt.holds_delimiter(), holds, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_texts_of_a_pool_come_back(
        candidates in prop::collection::vec(
            prop_oneof![
                "\\PC{0,20}",
                "[-\n\r \ta\u{feff}\u{2028}]{0,12}",
                "(-{2,4}[ \t\r]{0,2}\n?|a|\n|\r){0,8}",
            ],
            0..8,
        ),
        system in prop_oneof![Just(SystemPrompt::DEFAULT), Just("a\n"), Just("-"), Just("")],
        strict: bool,
    ) {
        let mode = if strict { ParseMode::Strict } else { ParseMode::Lenient };
        let mut pool = Pool::new(8, Retention::All).mode(mode);
        for text in &candidates {
            match pool.add(text, Origin::Mind) {
                Ok(_) | Err(PoolError::Blank | PoolError::Delimiter { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let stored: Vec<_> = pool.active().map(|id| pool.text(id).unwrap()).collect();
        let prompt = format_prompt(&SystemPrompt::new(system, PromptRole::User), stored.iter().copied());
        prop_assert_eq!(texts(prompt.text(), system), stored);
    }
}
