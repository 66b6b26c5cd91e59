//! Local minds: what they can be asked for, what they answer, and that a prompt is all they know.

use std::collections::BTreeMap;
use std::sync::Arc;

use logosphere_core::format::{PromptRole, SystemPrompt, format_prompt};
use logosphere_core::{
    CallContext, LocalMind, Mind, MindError, MindInput, MindReply, Settings, WireRequest,
    local_mind,
};
use proptest::prelude::*;

use crate::desk::side;

const SENTENCES: [&str; 3] = [
    "The tide returns what the harbour forgot, and nobody asks for it back.",
    "A message that asks to be repeated is not always worth repeating, says the old keeper.",
    "We count the lamps at night because the moon won't stay where we left it.",
];

fn system() -> SystemPrompt {
    SystemPrompt::new(SystemPrompt::DEFAULT, PromptRole::User)
}

fn mind(spec: &str) -> LocalMind {
    local_mind(spec, &system()).unwrap().remember_parents()
}

fn input(texts: &[&str]) -> MindInput {
    let prompt = format_prompt(&system(), texts.iter().copied());
    MindInput::new(prompt, Arc::new(Settings::default().model_settings()))
}

fn ask(mind: &LocalMind, texts: &[&str], side: &CallContext) -> Result<MindReply, MindError> {
    let input = input(texts);
    let answer = mind.respond(&input, side);
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(answer)
}

/// The one message of a well-formed answer, byte for byte.
fn message(answer: &str) -> &str {
    let (_, rest) = answer.split_once("\n---\n").unwrap();
    let text = rest.strip_suffix("---\n\n---\n").unwrap();
    text.strip_suffix("\r\n")
        .or_else(|| text.strip_suffix('\n'))
        .unwrap()
}

/// Returns the answers of `spec` to `n` calls, with the index of the text that each passed on.
fn sent(spec: &str, texts: &[&str], n: u32) -> Vec<(String, Option<usize>)> {
    let mind = mind(spec);
    let said: Vec<_> = (0..n)
        .map(|round| ask(&mind, texts, &side(7, round, 0)).unwrap().text)
        .collect();
    let parents = mind.parents();
    let parent = |round: usize| parents[&format!("{round}/0")];
    (said.iter().enumerate())
        .map(|(round, answer)| (message(answer).to_owned(), parent(round)))
        .collect()
}

#[test]
fn a_mind_is_asked_for_by_kind_and_parameters() {
    let label = |spec| local_mind(spec, &system()).unwrap().label().to_owned();
    assert_eq!(label("copier"), "copier:mu=0.05");
    assert_eq!(label("copier:mu=0"), "copier:mu=0");
    assert_eq!(label("mutator:"), LocalMind::DEFAULT);
    assert_eq!(label("markov:n=3"), "markov:n=3");
    assert_eq!(label("biased:s=1,type=a,b=c"), "biased:s=1,type=a,b=c");
    assert_eq!(label("flaky:rate=0.5"), "flaky:rate=0.5");
    assert_eq!(label("slow:ms=20"), "slow:ms=20");
    assert_eq!(label("silent"), "silent");
    assert_eq!(label("disobedient"), "disobedient");
}

#[test]
fn what_cannot_be_asked_for_says_what_can() {
    let error = |spec| local_mind(spec, &system()).unwrap_err().to_string();
    assert_eq!(
        error("parrot:mu=1"),
        "there is no local mind `parrot`; there are: copier, mutator, markov, biased, disobedient, silent, flaky, slow"
    );
    assert_eq!(
        error("silent:mu=1"),
        "mind `silent` has no parameter `mu`; it has: none"
    );
    assert_eq!(
        error("copier:0.05"),
        "mind `copier` has no parameter `0.05`; it has: mu"
    );
    assert_eq!(
        error("mutator:p=0.1,p=0.2"),
        "mind `mutator` has parameter `p` twice; give it once"
    );
    assert_eq!(
        error("biased:s=1"),
        "mind `biased` needs `type`, such as `biased:s=0.2,type=moon|tide`"
    );
    assert_eq!(
        error("biased:type=("),
        "`type` of mind `biased` is not a regular expression"
    );
    for spec in ["copier:mu=1.1", "copier:mu=NaN", "copier:mu=", "copier:mu"] {
        let value = spec.split_once("mu").unwrap().1.trim_start_matches('=');
        assert_eq!(
            error(spec),
            format!("`mu` of mind `copier` is `{value}`, but must be a number from 0 to 1")
        );
    }
    for spec in [
        "markov:n=0",
        "markov:n=-1",
        "slow:ms=600001",
        "biased:s=-1,type=a",
    ] {
        assert!(error(spec).contains("but must be a number"), "{spec}");
    }
}

#[test]
fn a_copier_passes_one_text_on_and_sometimes_invents_one() {
    let sent = sent("copier:mu=0.25", &SENTENCES, 400);
    let mut invented = BTreeMap::new();
    let mut copied = [0; 3];
    for (text, parent) in &sent {
        match parent {
            Some(place) => {
                assert_eq!(text, SENTENCES[*place]);
                copied[*place] += 1;
            }
            None => *invented.entry(text).or_insert(0) += 1,
        }
    }
    // Four standard errors: 100 +- 35 of 400 and 100 +- 35 of each text.
    assert!((65..=135).contains(&invented.len()), "{}", invented.len());
    assert!(invented.values().all(|&times| times == 1));
    assert!(
        invented
            .keys()
            .all(|word| word.chars().all(char::is_alphanumeric))
    );
    assert!(copied.iter().all(|n| (65..=135).contains(n)), "{copied:?}");
}

#[test]
fn who_gets_nothing_to_read_invents_a_word() {
    for spec in ["copier:mu=0", "mutator", "markov", "biased:type=a", "slow"] {
        let mind = mind(spec);
        let answer = ask(&mind, &[], &side(1, 1, 0)).unwrap();
        assert_eq!(message(&answer.text).len(), 20, "{spec}");
        assert_eq!(mind.parents()["1/0"], None);
    }
}

#[test]
fn stamps_are_taken_off_and_nothing_else() {
    let copy = |text: &str| sent("copier:mu=0", &[text], 1).remove(0).0;
    assert_eq!(copy("a\n\n~init"), "a");
    assert_eq!(copy("a\n\n~x\n\n~init"), "a\n\n~x");
    assert_eq!(copy(&format!("a\n\n~{}", "é".repeat(31))), "a");
    for kept in [
        "a\n~init",
        "a\n\n~",
        "a\n\n~init\n",
        "a\n\n~in\u{7}it",
        "a\n\ninit",
        "\n\n~init",
    ] {
        assert_eq!(copy(kept), kept);
    }
    let long = format!("a\n\n~{}", "é".repeat(32));
    assert_eq!(copy(&long), long);
}

#[test]
fn a_mutator_changes_words_and_leaves_sentences() {
    let sent = sent("mutator:p=0.1", &SENTENCES, 300);
    let words = |text: &str| text.split_whitespace().count() as i64;
    let (mut changed, mut grown, mut shrunk) = (0, 0, 0);
    for (text, parent) in &sent {
        let parent = SENTENCES[parent.unwrap()];
        changed += u32::from(text != parent);
        grown += u32::from(words(text) > words(parent));
        shrunk += u32::from(words(text) < words(parent));
        assert!((words(text) - words(parent)).abs() <= 6, "{text}");
        assert!(text.ends_with('.'), "{text}");
        assert!(!text.contains("  "), "{text}");
    }
    // A text of 13 words stays as it is with probability 0.25.
    assert!((190..=260).contains(&changed), "{changed}");
    assert!(grown > 40 && shrunk > 40, "{grown} {shrunk}");

    let same = self::sent("mutator:p=0", &SENTENCES, 20);
    assert!(
        same.iter()
            .all(|(text, parent)| text == SENTENCES[parent.unwrap()])
    );
}

#[test]
fn a_mutator_never_runs_out_of_text_or_writes_a_delimiter() {
    for text in ["word", "---x", "…", "我们看见月亮", "a\n--- b"] {
        for (sent, _) in sent("mutator:p=1", &[text], 40) {
            assert!(!sent.trim().is_empty(), "{text:?}");
            assert!(
                sent.lines().all(|line| line.trim_end() != "---"),
                "{text:?}"
            );
        }
    }
}

#[test]
fn a_chain_says_only_what_follows_somewhere() {
    let texts = [
        "one two three four",
        "two three five",
        "nine two three one two",
    ];
    let all: Vec<Vec<&str>> = (texts.iter())
        .map(|text| text.split(' ').collect())
        .collect();
    let sent = sent("markov:n=2", &texts, 100);
    let mut new = 0;
    for (text, parent) in &sent {
        let words: Vec<_> = text.split(' ').collect();
        assert!(words.len() <= 10);
        for triple in words.windows(3) {
            let known = (all.iter()).any(|words| words.windows(3).any(|other| other == triple));
            assert!(known, "{text}");
        }
        assert_eq!(*parent, None);
        new += u32::from(!texts.contains(&text.as_str()));
    }
    assert!(new > 10, "{new}");
}

#[test]
fn a_biased_mind_likes_what_matches() {
    let sent = sent("biased:s=2,type=(?i)MOON|tide", &SENTENCES, 700);
    let mut copied = [0; 3];
    for (_, parent) in sent {
        copied[parent.unwrap()] += 1;
    }
    // Weights 3, 1, 3 of 700; four standard errors are 53 and 38.
    assert!((247..=353).contains(&copied[0]), "{copied:?}");
    assert!((62..=138).contains(&copied[1]), "{copied:?}");
    assert!((247..=353).contains(&copied[2]), "{copied:?}");
}

#[test]
fn a_disobedient_mind_answers_in_ten_ways() {
    let mind = mind("disobedient");
    let mut ways = BTreeMap::new();
    for round in 0..200 {
        let side = side(42, round, 0);
        let first: [u8; 8] = side.nonce()[..8].try_into().unwrap();
        let answer = ask(&mind, &["One.\n\n~init"], &side).unwrap().text;
        let known = ways.insert(u64::from_le_bytes(first) % 10, answer.clone());
        assert!(known.is_none_or(|known| known == answer));
    }
    let ways: Vec<_> = ways.into_values().collect();
    let thought = "I pass one on.";
    assert_eq!(
        ways,
        [
            format!("{thought}\n---\nOne.\n---\n   \n---\n"),
            format!("{thought}\n---\nOne.\n---\n---\n"),
            format!("{thought}\n---\nOne.\n---\n"),
            format!("{thought}\n---\nOne."),
            "I keep silent.\n---\n\n---\n".to_owned(),
            format!("{thought}\n---\nOne.\n---\n\n---\n~contrary\n"),
            format!("{thought}\n---\nOne.\n---\n\n---\n~init\n"),
            format!("{thought}\r\n---\r\nOne.\r\n---\r\n\r\n---\r\n"),
            "One.\n".to_owned(),
            format!("{thought}\n----\nOne.\n----\n\n----\n"),
        ]
    );
}

#[test]
fn a_silent_mind_ends_its_answer() {
    let answer = ask(&mind("silent"), &SENTENCES, &side(1, 1, 0)).unwrap();
    assert_eq!(answer.text, "I keep silent.\n---\n\n---\n");
}

#[test]
fn a_flaky_mind_fails_as_often_as_it_was_told() {
    let mind = mind("flaky:rate=0.2");
    let mut failed = 0;
    for round in 0..500 {
        match ask(&mind, &SENTENCES, &side(3, round, 1)) {
            Ok(reply) => assert!(SENTENCES.contains(&message(&reply.text))),
            Err(error) => {
                assert_eq!((error.class.as_str(), error.fatal), ("overloaded", false));
                assert_eq!(error.attempts.len(), 1);
                failed += 1;
            }
        }
    }
    assert!((64..=136).contains(&failed), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_mind_waits() {
    let mind = mind("slow:ms=250");
    let start = tokio::time::Instant::now();
    mind.respond(&input(&SENTENCES), &side(1, 1, 0))
        .await
        .unwrap();
    assert_eq!(start.elapsed().as_millis(), 250);
}

#[test]
fn an_answer_depends_on_the_prompt_and_the_nonce_alone() {
    for spec in [
        "copier",
        "mutator",
        "markov",
        "biased:type=a",
        "disobedient",
    ] {
        let second = side(5, 2, 1);
        let first = ask(&mind(spec), &SENTENCES, &second).unwrap();
        let warm = mind(spec);
        ask(&warm, &SENTENCES, &side(5, 1, 0)).unwrap();
        assert_eq!(ask(&warm, &SENTENCES, &second).unwrap(), first, "{spec}");
    }
}

#[test]
fn an_answer_has_estimates_and_no_price() {
    let mind = mind("copier:mu=0");
    let asked = input(&["One."]);
    let answer = ask(&mind, &["One."], &side(1, 1, 0)).unwrap();
    assert_eq!(answer.model, "copier:mu=0");
    assert_eq!(answer.finish_reason.as_deref(), Some("end_turn"));
    let prompt = asked.prompt().text().len().div_ceil(3) as u64;
    let completion = answer.text.len().div_ceil(3) as u64;
    assert_eq!(
        (answer.tokens.prompt, answer.tokens.completion),
        (prompt, completion)
    );
    assert!(answer.tokens.estimated);
    assert_eq!(answer.cost, None);
    assert!(answer.attempts.is_empty());
    // Nothing is sent; what would be is known all the same.
    assert_eq!(mind.request(&asked).unwrap(), WireRequest::local(&asked));
}

#[test]
fn a_prompt_of_somebody_else_is_refused() {
    let other = SystemPrompt::new("Other words.", PromptRole::User);
    let mind = local_mind("copier", &other).unwrap();
    let error = ask(&mind, &SENTENCES, &side(1, 1, 0)).unwrap_err();
    assert!(error.fatal);
    assert!(error.message.contains("system prompt"), "{error}");
}

proptest! {
    /// Whatever lies in a pool, a copier passes it on byte for byte.
    #[test]
    fn copies_are_exact(
        texts in prop::collection::vec("[a-z~\\-\r\n\t é\u{2028}]{0,12}[a-z][ \r\n]{0,3}", 1..5),
        round in 0_u32..1000,
    ) {
        let delimiter = |line: &str| line.trim_end_matches([' ', '\t', '\r']) == "---";
        prop_assume!(texts.iter().all(|text| !text.split('\n').any(delimiter)));
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let mind = mind("copier:mu=0");
        let answer = ask(&mind, &texts, &side(9, round, 3)).unwrap();
        let parent = mind.parents()[&format!("{round}/3")].unwrap();
        let text = texts[parent];
        let expected = match text.rsplit_once("\n\n~") {
            Some((rest, name))
                if !name.is_empty()
                    && name.trim_end() == name
                    && !name.contains(char::is_control)
                    && !rest.trim().is_empty() =>
            {
                rest
            }
            _ => text,
        };
        prop_assert_eq!(message(&answer.text), expected);
    }
}
