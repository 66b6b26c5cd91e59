//! The original reaches no decoder and no executor.

use std::collections::HashSet;
use std::sync::Mutex;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::model::ModelRequest;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::{EXECUTOR, PromptProfile, Role};

use crate::desk::{Desk, case, plan};
use crate::player::{Player, says, usual};
use crate::wire::{COUNT, Wire, counts, plays, text};

const TEXTS: usize = 500;
const PROFILES: [PromptProfile; 3] = [
    PromptProfile::Plain,
    PromptProfile::Bands,
    PromptProfile::Guarded,
];

/// Words that no prompt holds, between marks of all kinds.
struct Words(ChaCha20Rng);

impl Words {
    fn below(&mut self, end: u32) -> u32 {
        self.0.next_u32() % end
    }

    fn word(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ";
        let letter = |index: u32| char::from(LETTERS[index as usize]);
        let length = SHARP as u32 + self.below(6);
        let letters = (0..length).map(|_| self.below(LETTERS.len() as u32));
        letters
            .collect::<Vec<_>>()
            .into_iter()
            .map(letter)
            .collect()
    }

    /// A text and the words in it.
    fn text(&mut self) -> (String, Vec<String>) {
        const BETWEEN: [&str; 12] = [
            " ",
            ", ",
            "\n",
            "\r\n\r\n",
            " — ",
            "\t",
            "“",
            " {encodingSystem} ",
            "\u{202e}",
            "🦀",
            "\\\"",
            " ENCODED TEXT:\n",
        ];
        let words: Vec<_> = (0..=self.below(7)).map(|_| self.word()).collect();
        let mut text = String::new();
        for word in &words {
            text += word;
            text += BETWEEN[self.below(BETWEEN.len() as u32) as usize];
        }
        (text, words)
    }
}

/// A plan of random texts that are instructions, so that an executor is asked, and the markers of each.
fn random(profile: PromptProfile) -> (Plan, Vec<Vec<String>>) {
    let mut words = Words(ChaCha20Rng::seed_from_u64(22));
    let mut plan = plan(&[]);
    let mut markers = Vec::new();
    for id in 0..TEXTS as u32 {
        let (text, mut of_text) = words.text();
        let mut planned = case(id, &text);
        // What is expected and why is as secret as the text.
        let (expected, why) = (words.word(), words.word());
        of_text.extend([expected.clone(), why.clone()]);
        planned.case.expected_output = Some(expected);
        planned.case.explanation = Some(why);
        plan.cases.push(planned);
        markers.push(of_text);
    }
    plan.config.prompt_profile = profile;
    plan.config.execute = true;
    (plan, markers)
}

/// All that a port gets to see of a request, letters as they are.
fn seen(request: &ModelRequest) -> String {
    format!("{request:?}")
}

/// The letters in a row that are part of a marker.
const SHARP: usize = 7;

fn windows_of(text: &str) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().windows(SHARP)
}

/// Every such piece of what was seen.
fn windows(requests: &[ModelRequest]) -> HashSet<Vec<u8>> {
    let seen: Vec<_> = requests.iter().map(seen).collect();
    // Most lines are those of the prompt.
    let lines: HashSet<&str> = seen.iter().flat_map(|text| text.split("\\n")).collect();
    let windows = lines.into_iter().flat_map(windows_of);
    windows.map(<[u8]>::to_vec).collect()
}

/// An encoder and a decoder whose replies hold nothing of the original.
fn unfaithful() -> Player {
    let said = Mutex::new(0);
    Player::default().replies(move |request| {
        let mut said = said.lock().unwrap();
        *said += 1;
        Ok(match request.role {
            Role::Encoder => says(format!("~{said}~")),
            Role::Decoder => says(format!("<{said}>")),
            _ => usual(request),
        })
    })
}

/// No marker of the original reaches decoder or executor.
fn isolated(profile: PromptProfile) {
    let (plan, markers) = random(profile);
    let player = unfaithful();
    let results = Desk::default().run(&player, &plan);
    assert!(results.iter().all(|result| result.outcome.is_ok()));
    for role in [Role::Decoder, Role::Executor] {
        let requests = player.to(role);
        assert_eq!(requests.len(), TEXTS, "{role:?}");
        // Of all texts at once: no item may see another's text either.
        let seen = windows(&requests);
        for marker in markers.concat() {
            let leak = windows_of(&marker).any(|letters| seen.contains(letters));
            assert!(!leak, "{profile:?} {role:?}: {marker}");
        }
    }
    // The markers are sharp: whoever may see a text sees them.
    for role in [Role::Encoder, Role::SemanticJudge] {
        let seen = windows(&player.to(role));
        for of_text in &markers {
            // The last two are the expected result and its reason.
            for marker in &of_text[..of_text.len() - 2] {
                let all = windows_of(marker).all(|letters| seen.contains(letters));
                assert!(all, "{profile:?} {role:?}: {marker}");
            }
        }
    }
}

#[test]
fn in_the_seeds_profile() {
    isolated(PromptProfile::Plain);
}

#[test]
fn in_the_profile_with_bands() {
    isolated(PromptProfile::Bands);
}

#[test]
fn in_the_guarded_profile() {
    isolated(PromptProfile::Guarded);
}

#[tokio::test]
async fn nor_does_it_go_over_the_wire() {
    for profile in PROFILES {
        let (mut plan, markers) = random(profile);
        plan.cases.truncate(10);
        let wire = Wire::new(|path, body| match path {
            COUNT => counts(body),
            _ => plays(body, 100, 90),
        });
        let desk = Desk::default();
        let run = desk.quietly(&wire.client, &plan, CancellationToken::new());
        let report = run.await.unwrap();
        assert!(report.results.iter().all(|result| result.outcome.is_ok()));
        let blind = |(_, body): &(String, Value)| {
            let system = text(&body["system"]);
            system.contains("decoding agent") || system.starts_with(EXECUTOR)
        };
        let sent: Vec<_> = wire.sent().into_iter().filter(blind).collect();
        // All texts are encoded alike, so that one decoding and one execution do for all.
        assert_eq!(sent.len(), 2);
        for (_, body) in sent {
            let body = body.to_string();
            for marker in markers[..10].concat() {
                assert!(!body.contains(&marker), "{marker} in {body}");
            }
        }
    }
}

#[test]
fn another_original_changes_nothing_for_decoder_and_executor() {
    for profile in PROFILES {
        let blind = |text: &str| {
            let mut plan = plan(&[text]);
            plan.config.prompt_profile = profile;
            plan.config.execute = true;
            plan.config.decodes = 2;
            plan.config.trials = 2;
            plan.cases[0].case.expected_output = Some(text.to_owned());
            let player = Player::default().replies(|request| {
                Ok(match request.role {
                    Role::Encoder => says("the same"),
                    _ => usual(request),
                })
            });
            Desk::one_by_one().run(&player, &plan);
            let requests = [player.to(Role::Decoder), player.to(Role::Executor)];
            assert_eq!(requests.each_ref().map(Vec::len), [4, 4]);
            requests
        };
        assert_eq!(blind("one text"), blind("and quite another, longer text"));
    }
}

#[test]
fn nothing_of_the_judges_reaches_decoder_or_executor() {
    for profile in PROFILES {
        let mut plan = plan(&["KEPT-FROM-YOU"]);
        plan.config.prompt_profile = profile;
        plan.config.execute = true;
        plan.config.decodes = 3;
        plan.config.trials = 2;
        plan.config.judge_samples = 2;
        plan.config.models.judges = vec!["judge-1".to_owned(), "judge-2".to_owned()];
        plan.cases[0].case.expected_output = Some("x".to_owned());
        let player = Player::default().replies(|request| {
            Ok(match request.role {
                Role::Encoder => says("zq1"),
                Role::Decoder => says(format!("DECODED-BY-{:?}", request.repeat.decode)),
                // First without a score, so that the longer conversation of a second try is there, too.
                _ if request.repeat.ask == Some(1) => says("HARD-TO-SAY"),
                Role::Executor => says("CARRIED-OUT"),
                _ => says(r#"{"score": 3, "reasoning": "BECAUSE-OF-THIS"}"#),
            })
        });
        let results = Desk::one_by_one().run(&player, &plan);
        assert!(results.iter().all(|result| result.outcome.is_ok()));
        let decoders = player.to(Role::Decoder);
        assert_eq!(decoders.len(), 6);
        for request in &decoders {
            let seen = seen(request);
            let foreign = [
                "DECODED-BY",
                "HARD-TO-SAY",
                "BECAUSE-OF-THIS",
                "CARRIED-OUT",
                "ORIGINAL:",
                "KEPT-FROM-YOU",
                "judge-1",
            ];
            for foreign in foreign {
                assert!(!seen.contains(foreign), "{profile:?}: {foreign} in {seen}");
            }
            // A new conversation every time.
            assert_eq!(request.prompt.messages.len(), 1);
        }
        let executors = player.to(Role::Executor);
        assert_eq!(executors.len(), 6);
        for request in &executors {
            let text = &request.prompt.messages[0].content;
            assert!(text.starts_with("DECODED-BY-Some("), "{text}");
            assert_eq!(request.prompt.messages.len(), 1);
            assert_eq!(request.prompt.system, EXECUTOR);
            assert_eq!(request.inputs.rules, "");
            assert_eq!(&request.inputs.texts, std::slice::from_ref(text));
        }
    }
}
