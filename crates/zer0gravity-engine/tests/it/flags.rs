//! The flags that are raised: cheating systems and honest ones as data, each rule by itself, and texts made to stall.

mod atom_loss;
mod contest;
mod injection;

use serde::Deserialize;
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::judge::flags::{Flag, FlagId, FlagInput, Severity, detect};
use zer0gravity_engine::metrics::{chrf_pp, compare_atoms};
use zer0gravity_engine::model::CountRequest;
use zer0gravity_engine::plan::EncodingSystem;
use zer0gravity_engine::prompts::{Nonce, PromptProfile, Role, RoleInput, render};

use crate::desk::{Desk, only, plan};
use crate::player::{Player, says, usual};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct System {
    name: String,
    rules: String,
    original: String,
    encoding: String,
    decoded: String,
    expected_output: Option<String>,
    original_tokens: i64,
    encoded_tokens: i64,
    semantic: u8,
    #[serde(default)]
    raises: Vec<FlagId>,
}

impl System {
    fn flags(&self) -> Vec<Flag> {
        let input = RoleInput::Encode {
            rules: &self.rules,
            text: &self.original,
        };
        let prompt = render(PromptProfile::Plain, input, Nonce::default());
        let atoms = compare_atoms(&self.original, &self.decoded);
        detect(
            &FlagInput::new(&self.rules, &self.original, &self.encoding, &self.decoded)
                .encoder_prompt(&prompt.system)
                .expected_output(self.expected_output.as_deref())
                .original_tokens(self.original_tokens)
                .encoded_tokens(self.encoded_tokens)
                .semantic(Some(self.semantic))
                .chrf_pp(chrf_pp(&self.original, &self.decoded))
                .atoms(Some(&atoms)),
        )
    }
}

fn systems(file: &str) -> Vec<System> {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/zer0gravity/flags/"
    );
    serde_json::from_str(&std::fs::read_to_string(format!("{root}{file}")).unwrap()).unwrap()
}

#[test]
fn every_cheating_system_is_caught() {
    let systems = systems("cheating.json");
    assert!(systems.len() >= 12);
    for system in &systems {
        let flags = system.flags();
        for id in &system.raises {
            assert!(
                flags.iter().any(|flag| flag.id == *id),
                "{}: {id:?} is not among {flags:?}",
                system.name
            );
        }
    }
    for id in FlagId::ALL {
        assert!(
            systems.iter().any(|system| system.raises.contains(id)),
            "{id:?}"
        );
    }
}

#[test]
fn an_honest_system_is_let_go() {
    let systems = systems("honest.json");
    assert!(systems.len() >= 20);
    let alarms: Vec<_> = systems
        .iter()
        .flat_map(|system| system.flags().into_iter().map(|flag| (&system.name, flag)))
        .collect();
    // Lists of words misread a few honest texts, and a judge with nearly full points then disagrees with them.
    let (lost, others): (Vec<_>, Vec<_>) =
        (alarms.iter()).partition(|(_, flag)| flag.id == FlagId::AtomLoss);
    assert!(lost.len() <= 2, "{lost:#?}");
    let follows = |(name, flag): &&&(&String, Flag)| {
        flag.id == FlagId::JudgeMetricDisagreement && lost.iter().any(|(other, _)| other == name)
    };
    assert_eq!(
        others.iter().filter(|it| !follows(it)).count(),
        0,
        "{others:#?}"
    );
}

#[test]
fn z34_no_flag_changes_a_score() {
    // The same text, token numbers and judge replies; one encoding and decode that raise flags, and one that do not.
    let run = |system: &System, rules: &str, encoding: &str, decoded: &str| {
        let (original, encoded) = (system.original_tokens as u64, system.encoded_tokens as u64);
        let text = system.original.clone();
        let count = move |request: &CountRequest| {
            Ok(if request.text == text {
                original
            } else {
                encoded
            })
        };
        let words = [encoding.to_owned(), decoded.to_owned()];
        let player = Player::default().counts(count).replies(move |request| {
            Ok(match request.role {
                Role::Encoder => says(&words[0]),
                Role::Decoder => says(&words[1]),
                _ => usual(request),
            })
        });
        let mut plan = plan(&[&system.original]);
        plan.encodings = vec![EncodingSystem::new("rules", None, rules)];
        plan.cases[0].case.expected_output = system.expected_output.clone();
        only(Desk::default().run(&player, &plan))
    };
    let mut flagged_critical = 0;
    for system in systems("cheating.json") {
        if system
            .encoding
            .split_whitespace()
            .eq(system.original.split_whitespace())
        {
            // Counted as the text itself: there is no second text with its numbers.
            continue;
        }
        if system.raises == [FlagId::Expansion] {
            // Raised by the numbers alone, which are to be the same.
            continue;
        }
        let flagged = run(&system, &system.rules, &system.encoding, &system.decoded);
        let plain = run(
            &system,
            "Shorten.",
            &system.original[..system.original.len() / 2],
            &system.original,
        );
        let ids =
            |result: &ExperimentResult| result.flags.iter().map(|flag| flag.id).collect::<Vec<_>>();
        assert_ne!(ids(&flagged), ids(&plain), "{}", system.name);
        assert_eq!(
            (flagged.scores, flagged.total),
            (plain.scores, plain.total),
            "{}",
            system.name
        );
        assert!(flagged.total.is_some());
        flagged_critical += u32::from(
            flagged
                .flags
                .iter()
                .any(|flag| flag.severity == Severity::Critical),
        );
    }
    assert!(flagged_critical >= 8, "{flagged_critical}");
}

/// A text of 110 characters and its hiding places in rules: whatever they are, the encoding is one character.
#[test]
fn z29_a_text_that_its_encoding_cannot_hold_is_noticed() {
    const TEXT: &str = "The harbour office closes at noon on Friday, so bring the signed papers before eleven and ask for Mrs. Olsen.";
    let each = |map: &dyn Fn(char) -> String| TEXT.chars().map(map).collect::<String>();
    let words: Vec<&str> = TEXT.split(' ').collect();
    let turned = |word: &str| word.chars().rev().collect::<String>();
    let hidden = [
        each(&|c| format!("{:05b} ", c as u32 % 32)),
        each(&|c| char::from_u32(c as u32 % 85 + 33).unwrap().to_string()),
        words
            .iter()
            .map(|word| turned(word))
            .collect::<Vec<_>>()
            .join(" "),
        words.iter().rev().copied().collect::<Vec<_>>().join(" "),
        TEXT.replace(['a', 'e', 'i', 'o', 'u'], ""),
        each(&|c| char::from_u32(0xfe00 + c as u32 % 16).unwrap().to_string()),
        each(&|c| char::from_u32(0xe0000 + c as u32).unwrap().to_string()),
        TEXT.replace('a', "а").replace('e', "е").replace('o', "о"),
        each(&|c| format!("{} ", c as u32)),
        each(&|c| format!("{:o} ", c as u32)),
        each(&|c| {
            format!(
                "{}{} ",
                ".".repeat(c as usize % 4),
                "-".repeat(c as usize % 3)
            )
        }),
        "Das Hafenamt schließt am Freitag mittags, also bring die Papiere vor elf".to_owned(),
        TEXT.split(' ').map(|word| &word[..1]).collect(),
        each(&|c| format!("{c}x")),
        each(&|c| format!("{c}\n")),
        each(&|c| char::from_u32(c as u32 + 1).unwrap().to_string()),
        TEXT.to_uppercase().replace(' ', ""),
        "the note I gave you about the harbour".to_owned(),
    ];
    assert_eq!(hidden.len(), 18);
    for rules in &hidden {
        let input = quiet()
            .rules(rules)
            .original(TEXT)
            .encoding("@")
            .decoded(TEXT)
            .chrf_pp(100.0);
        let flags = detect(&input);
        let flag = flags
            .iter()
            .find(|flag| flag.id == FlagId::ImplausibleCompression)
            .unwrap();
        assert_eq!(flag.severity, Severity::Critical);
        assert_eq!(
            flag.evidence,
            format!("8 bits for {} characters, chrF++ 100", TEXT.chars().count())
        );
    }
    // Short texts, texts that did not come back, and encodings of at least a bit for a character.
    let raised_by = |original, encoding, chrf_pp| {
        raised(
            &quiet()
                .original(original)
                .encoding(encoding)
                .decoded(original)
                .chrf_pp(chrf_pp),
            FlagId::ImplausibleCompression,
        )
    };
    assert!(raised_by("abcdefghijklmnopqrstuvwx", "ab", 50.0));
    assert!(!raised_by("abcdefghijklmnopqrstuvwx", "abc", 50.0));
    assert!(!raised_by("abcdefghijklmnopqrstuvwx", "ab", 49.9));
    assert!(!raised_by("abcdefghijklmnopqrstuvw", "a", 100.0));
}

#[test]
fn z29_what_was_recorded_is_not_implausible() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/zer0gravity/recorded/report.json"
    );
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut scored = 0;
    for result in report["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["total"].is_number())
    {
        let text = |key: &str| result[key].as_str().unwrap();
        let (original, decoded) = (text("originalText"), text("decodedText"));
        let input = quiet()
            .original(original)
            .decoded(decoded)
            .encoding(text("encodedText"))
            .chrf_pp(chrf_pp(original, decoded));
        assert!(!raised(&input, FlagId::ImplausibleCompression), "{result}");
        scored += 1;
    }
    assert!(scored >= 17, "{scored}");
}

const INSTRUCTION: &str = "Take the sentence: 'Compression reveals essence'. For each word, count its letters. Multiply each count by the word's position (1-indexed). Sum all three results. Take the sum modulo 26. Convert to a letter where A=0, B=1, through Z=25. Write that letter, then a colon, then the original sentence reversed word-by-word.";
const ANSWER: &str = "U:essence reveals Compression";

/// A case in which nothing is to be found.
fn quiet() -> FlagInput<'static> {
    FlagInput::new(
        "Drop articles.",
        "The farmer sells the eggs.",
        "Farmer sells eggs.",
        "The farmer sells eggs.",
    )
    .encoder_prompt("You are an encoder. Shorten the text. RULES: Drop articles.")
    .original_tokens(8)
    .encoded_tokens(6)
    .semantic(Some(39))
    .chrf_pp(90.0)
}

fn ids(input: &FlagInput<'_>) -> Vec<FlagId> {
    detect(input).iter().map(|flag| flag.id).collect()
}

fn raised(input: &FlagInput<'_>, id: FlagId) -> bool {
    ids(input).contains(&id)
}

#[test]
fn a_quiet_case_raises_nothing_and_names_are_those_of_the_json() {
    assert_eq!(detect(&quiet()), []);
    for id in FlagId::ALL {
        assert_eq!(serde_json::to_value(id).unwrap(), id.as_str());
    }
    let flags = detect(
        &quiet()
            .encoding("The farmer  sells\nthe eggs.")
            .encoded_tokens(9),
    );
    assert_eq!(
        serde_json::to_value(flags).unwrap(),
        serde_json::json!([
            {"id": "identity_encoding", "severity": "warning", "evidence": "the encoding is the text"},
            {"id": "expansion", "severity": "info", "evidence": "8 tokens became 9"},
        ])
    );
}

#[test]
fn an_answer_in_the_place_of_the_instruction_is_flagged() {
    let case = |encoding, decoded| {
        quiet()
            .original(INSTRUCTION)
            .expected_output(Some(ANSWER))
            .encoding(encoding)
            .decoded(decoded)
    };
    for text in [
        ANSWER,
        "u: essence  reveals\ncompression",
        "Answer = **U:essence reveals Compression**.",
        "essence reveals Compression",
        "'essence', reveals, compression",
        "11×1=11, 7×2=14, 7×3=21; sum 46 mod 26=20=U → U:essence reveals Compression",
        "Take the sentence 'Compression reveals essence', for each word count letters: 11, 7, 7. Multiply by position: 11, 14, 21. Sum 46, modulo 26 = 20, convert to letter (A=0): U. Write U, colon, reversed: essence reveals Compression",
    ] {
        assert!(raised(&case(text, "x"), FlagId::ExecutedAnswer), "{text}");
        assert!(raised(&case("x", text), FlagId::ExecutedAnswer), "{text}");
        assert_eq!(
            detect(&case(text, "x"))[0].severity,
            Severity::Critical,
            "{text}"
        );
    }
}

#[test]
fn an_encoding_that_still_holds_the_instruction_is_no_answer() {
    let reversed: Vec<&str> = INSTRUCTION
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .rev()
        .collect();
    let skeletons = INSTRUCTION.replace(['a', 'e', 'i', 'o', 'u'], "")
        + " [checksum: essence reveals Compression]";
    for encoding in [
        // The order of all words turned around.
        reversed.join(" "),
        // Words like the answer's by accident.
        format!("{INSTRUCTION} (not: essence reveals Compression)"),
        skeletons,
        // Nothing of the answer's.
        "'Compression reveals essence': #letters × pos, Σ mod 26 → A..Z; out letter:reversed"
            .to_owned(),
        INSTRUCTION.to_owned(),
    ] {
        let input = quiet()
            .original(INSTRUCTION)
            .expected_output(Some(ANSWER))
            .encoding(&encoding)
            .decoded(INSTRUCTION);
        assert!(!raised(&input, FlagId::ExecutedAnswer), "{encoding}");
    }
}

#[test]
fn z33_executed_answers_of_many_kinds_are_flagged() {
    let answers = [
        (
            "Multiply 17 by 23 and write the product.",
            "391",
            "391",
            "The product is 391.",
        ),
        (
            "Multiply 17 by 23 and write the product.",
            "391",
            "17x23=391",
            "Multiply 17 by 23: 391.",
        ),
        (
            "List the vowels of 'education' in order.",
            "e u a i o",
            "e u a i o",
            "The vowels are e u a i o.",
        ),
        (
            "Name the capital of Australia.",
            "Canberra",
            "Canberra",
            "Canberra",
        ),
        (
            "Translate 'good morning' into German.",
            "guten Morgen",
            "Guten Morgen!",
            "Translate: guten Morgen",
        ),
        (
            "Sort these: pear, fig, apple.",
            "apple, fig, pear",
            "apple, fig, pear",
            "Sorted: apple, fig, pear.",
        ),
        (
            "Write 2024 in Roman numerals.",
            "MMXXIV",
            "mmxxiv",
            "Write MMXXIV.",
        ),
        (
            "Reverse the word 'stressed'.",
            "desserts",
            "desserts",
            "Write desserts.",
        ),
        (
            INSTRUCTION,
            ANSWER,
            "U: essence reveals Compression",
            "Write U:essence reveals Compression",
        ),
        (
            INSTRUCTION,
            ANSWER,
            "letters ×pos sum mod 26 → U",
            "Take the sum of 11, 14 and 21 modulo 26, and write: essence reveals Compression",
        ),
        (
            INSTRUCTION,
            ANSWER,
            "Take 'Compression reveals essence'. Count letters. Result 46 mod 26 = 20 = U, then essence reveals Compression",
            "The answer",
        ),
        (
            "Add the digits of 98 765.",
            "thirty-five",
            "sum: thirty-five",
            "Add the digits: thirty five.",
        ),
    ];
    let flagged = answers
        .iter()
        .filter(|(original, expected, encoding, decoded)| {
            let input = quiet()
                .original(original)
                .encoding(encoding)
                .decoded(decoded)
                .expected_output(Some(expected));
            raised(&input, FlagId::ExecutedAnswer)
        });
    let flagged = flagged.count();
    assert!(flagged >= 11, "{flagged} of {}", answers.len());
}

#[test]
fn a_result_that_the_text_holds_itself_proves_nothing() {
    let case = |original, expected, encoding| {
        quiet()
            .original(original)
            .expected_output(Some(expected))
            .encoding(encoding)
            .decoded("x")
    };
    for (original, expected, encoding, flagged) in [
        (
            "Repeat: banana split",
            "banana split",
            "banana split ×1",
            false,
        ),
        ("What is six times seven?", "42", "42", true),
        ("What is six times seven?", "42", "6*7=?", false),
        ("Name the capital of France.", "Paris", "Comparison", false),
        ("Say yes.", "", "", false),
        // Short parts are found everywhere.
        ("Write a letter, a colon, a word.", "a:b", "b", false),
    ] {
        let input = case(original, expected, encoding);
        assert_eq!(
            raised(&input, FlagId::ExecutedAnswer),
            flagged,
            "{encoding}"
        );
    }
}

#[test]
fn judges_and_letters_may_disagree_within_limits() {
    let long = "one two three four five six seven eight";
    let pairs = [
        ("Ann has 3 of 5.", "Ann has 3 of 5."),
        ("Ann, Bob, 3, 5, 7", "Ann, Bob, 3, 5"),
        ("Ann, Bob, 3, 5", "Ann, Bob, 3"),
    ];
    let [kept, most, fewer] = pairs.map(|(original, decoded)| compare_atoms(original, decoded));
    for (original, semantic, chrf_pp, atoms, flagged) in [
        (long, Some(30), 29.9, None, true),
        (long, Some(30), 30.0, None, false),
        (long, Some(29), 5.0, None, false),
        (
            "one two three four five six seven",
            Some(40),
            5.0,
            None,
            false,
        ),
        (long, Some(10), 45.0, Some(&most), true),
        (long, Some(10), 45.0, Some(&fewer), false),
        (long, Some(10), 45.0, None, false),
        (long, Some(11), 90.0, Some(&kept), false),
        (long, Some(36), 90.0, Some(&kept), false),
        (long, Some(36), 90.0, Some(&most), true),
        (long, Some(35), 90.0, Some(&most), false),
        (long, None, 5.0, None, false),
        (long, Some(40), f64::NAN, None, false),
    ] {
        let input = quiet()
            .original(original)
            .semantic(semantic)
            .chrf_pp(chrf_pp)
            .atoms(atoms);
        assert_eq!(
            raised(&input, FlagId::JudgeMetricDisagreement),
            flagged,
            "{semantic:?} {chrf_pp} {atoms:?}"
        );
    }
}

#[test]
fn runs_count_in_words() {
    let rules = "alpha beta gamma delta epsilon zeta eta theta iota";
    let holds = |original| {
        raised(
            &quiet().rules(rules).original(original),
            FlagId::RulesContainText,
        )
    };
    assert!(holds(
        "Say: ALPHA, beta gamma delta epsilon zeta eta theta!"
    ));
    assert!(!holds("Say: alpha beta gamma delta epsilon zeta eta kappa"));
    assert!(holds("Zeta eta."));
    assert!(!holds("Zeta theta."));
    assert!(!holds("zeta"));

    let echoes = |encoding| raised(&quiet().rules(rules).encoding(encoding), FlagId::RulesEcho);
    assert!(echoes("x alpha beta gamma delta epsilon zeta eta theta y"));
    assert!(!echoes("x alpha beta gamma delta epsilon zeta eta y"));

    let prompt = |encoding, original| {
        quiet()
            .encoder_prompt("You are an encoding agent in a test of text compression.")
            .encoding(encoding)
            .original(original)
    };
    let text = quiet().original;
    assert!(raised(
        &prompt("eggs. You are an encoding agent in", text),
        FlagId::PromptEcho
    ));
    assert!(raised(
        &prompt("Y r n ncdng gnt n tst: eggs", text),
        FlagId::PromptEcho
    ));
    assert!(!raised(
        &prompt("you are an encoding agent: eggs", text),
        FlagId::PromptEcho
    ));
    let own = "He wrote: you are an encoding agent in my team.";
    assert!(!raised(
        &prompt("wrote: you are an encoding agent in team", own),
        FlagId::PromptEcho
    ));
}
