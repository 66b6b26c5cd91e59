//! Judges' replies, read: a test for each rule of the default reader.

use proptest::prelude::*;
use serde_json::{Value, json};
use zer0gravity_engine::judge::JudgeStatus::{self, Parsed, Recovered, Unparseable};
use zer0gravity_engine::judge::score::round_half_up;
use zer0gravity_engine::judge::{JudgeReply, parse_judge_reply, reply_text};
use zer0gravity_engine::text::js_trim;

use crate::vectors::check::compat::parse_judge_reply_compat;
use crate::vectors::vectors;

fn read(raw: &str) -> (JudgeStatus, Option<u8>, String, bool) {
    let JudgeReply {
        status,
        score,
        reasoning,
        clamped,
        ..
    } = parse_judge_reply(raw, 40, &[]);
    (status, score, reasoning, clamped)
}

fn reads(rows: &[(&str, JudgeStatus, Option<u8>, &str, bool)]) {
    for &(raw, status, score, reasoning, clamped) in rows {
        assert_eq!(
            read(raw),
            (status, score, reasoning.to_owned(), clamped),
            "{raw}"
        );
    }
}

#[test]
fn the_object_that_was_asked_for_is_parsed() {
    reads(&[
        (
            r#"{"score": 35, "reasoning": "fine"}"#,
            Parsed,
            Some(35),
            "fine",
            false,
        ),
        (
            "\u{feff} {\"score\": 35}\u{a0}\n",
            Parsed,
            Some(35),
            "",
            false,
        ),
        ("```json\n{\"score\": 35}\n```", Parsed, Some(35), "", false),
        ("```\n{\"score\": 35}\n```", Parsed, Some(35), "", false),
        ("```json{\"score\": 35}```", Parsed, Some(35), "", false),
        ("```json\n{\"score\": 35}", Parsed, Some(35), "", false),
        (r#"{"score": 35, "score": 35}"#, Parsed, Some(35), "", false),
        (r#"{"score": 34.5}"#, Parsed, Some(35), "", false),
        (
            r#"{"score": 34.49999999999999}"#,
            Parsed,
            Some(34),
            "",
            false,
        ),
        (r#"{"score": -0.5}"#, Parsed, Some(0), "", false),
        (r#"{"score": -0.6}"#, Parsed, Some(0), "", true),
        (r#"{"score": 40.4}"#, Parsed, Some(40), "", false),
        (r#"{"score": 40.5}"#, Parsed, Some(40), "", true),
        (r#"{"score": 1e300}"#, Parsed, Some(40), "", true),
        (
            r#"{"score": 3, "reasoning": null}"#,
            Parsed,
            Some(3),
            "",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": false}"#,
            Parsed,
            Some(3),
            "",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": 0}"#,
            Parsed,
            Some(3),
            "",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": ""}"#,
            Parsed,
            Some(3),
            "",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": true}"#,
            Parsed,
            Some(3),
            "true",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": 1.50}"#,
            Parsed,
            Some(3),
            "1.5",
            false,
        ),
        (
            r#"{"score": 3, "reasoning": [ "a" , {} ]}"#,
            Parsed,
            Some(3),
            r#"["a",{}]"#,
            false,
        ),
        (
            r#"{"score": 3, "reasoning": "cut \ud83d"}"#,
            Parsed,
            Some(3),
            "cut \u{fffd}",
            false,
        ),
        (
            r#"{"score": 3, "other": 1e999}"#,
            Parsed,
            Some(3),
            "",
            false,
        ),
    ]);
}

#[test]
fn a_score_in_another_form_is_recovered() {
    reads(&[
        (
            "On the 0-40 scale: {\"score\": 38}",
            Recovered,
            Some(38),
            "",
            false,
        ),
        (
            "```JSON\n{\"score\": 38}\n```",
            Recovered,
            Some(38),
            "",
            false,
        ),
        (
            "```json\n{\"score\": 38}\n```\nHope that helps, some remarks.",
            Recovered,
            Some(38),
            "",
            false,
        ),
        ("~~~\n{\"score\": 38}\n~~~", Recovered, Some(38), "", false),
        ("\u{85}{\"score\": 38}", Recovered, Some(38), "", false),
        (
            r#"[{"score": 38, "reasoning": "r"}]"#,
            Recovered,
            Some(38),
            "r",
            false,
        ),
        (
            r#"First: {"score": 40}, so: {"score": 60, "reasoning": "r"}."#,
            Recovered,
            Some(40),
            "r",
            false,
        ),
        (r#"{"score": 5} {}"#, Recovered, Some(5), "", false),
        (
            r#"The {rules} say 6" so: {"score": 6, "reasoning": "a } in it"}"#,
            Recovered,
            Some(6),
            "a } in it",
            false,
        ),
        (r#"{ note: {"score": 7}"#, Recovered, Some(7), "", false),
        (r#"{"score": "35"}"#, Recovered, Some(35), "", false),
        (
            r#"{"score": "34.5", "reasoning": "r"}"#,
            Recovered,
            Some(35),
            "r",
            false,
        ),
        (r#"{"score": "-3"}"#, Recovered, Some(0), "", true),
    ]);
}

#[test]
fn everything_else_is_unparseable() {
    for raw in [
        "",
        " \n",
        "```json```",
        "35",
        "-5",
        "\"35\"",
        "true",
        "null",
        "[35]",
        "{}",
        r#"{"Score": 35}"#,
        r#"{"reasoning": "none"}"#,
        r#"{"score": null}"#,
        r#"{"score": true}"#,
        r#"{"score": [30]}"#,
        r#"{"score": {"score": 30}}"#,
        r#"{"score": ""}"#,
        r#"{"score": "0x1F"}"#,
        r#"{"score": "35/40"}"#,
        r#"{"score": "35%"}"#,
        r#"{"score": "4e1"}"#,
        r#"{"score": ".5"}"#,
        r#"{"score": "five"}"#,
        r#"{"score": "Infinity"}"#,
        r#"{"score": 1e999}"#,
        r#"{"score": NaN}"#,
        r#"{"score": 035}"#,
        r#"{"score": 35,}"#,
        r#"{"score": 35"#,
        r#"{"score": 35, "reasoning": "cut of"#,
        "{\"score\": 35, \"reasoning\": \"line\nbreak\"}",
        "{'score': 35}",
        r#"{note: {"score": 35}}"#,
        r#"{"result": {"score": 35}}"#,
        "Score: 35/40",
        "score 3.9",
        "100%",
        "# Evaluation\n\n**Score 0-5**: five",
        r#"said: {"score": "35"}"#,
        r#"{"score": 12, "score": 35}"#,
        r#"{"score": 35, "score": "35"}"#,
        r#"First {"score": 5}, no: {"score": 60}."#,
        r#"{"score": 2, "reasoning": "it says {"score": 40}"#,
    ] {
        assert_eq!(
            read(raw),
            (Unparseable, None, String::new(), false),
            "{raw}"
        );
    }
}

#[test]
fn where_an_object_with_a_number_is_given_it_equals_the_vectors() {
    let file = vectors("vectors.json");
    let (mut compared, mut doubled) = (0, 0);
    for (group, max) in [("judgeSemantic", 40), ("judgeImplementability", 5)] {
        for entry in file[group].as_array().unwrap() {
            let raw = match entry["blocks"].as_array() {
                Some(blocks) => reply_text(blocks),
                None => entry["reply"].as_str().unwrap().to_owned(),
            };
            let reply = parse_judge_reply(&raw, max, &[]);
            if raw.matches("\"score\"").count() > 1 {
                // The one exception: a key that is there twice with different values is no score.
                assert_eq!(reply.status, Unparseable, "{raw}");
                doubled += 1;
                continue;
            }
            let whole: Value = serde_json::from_str(js_trim(&raw)).unwrap_or_default();
            if whole["score"].is_number() {
                assert_eq!(reply.status, Parsed, "{raw}");
            }
            if reply.status == Parsed {
                assert_eq!(json!(reply.score), entry["score"], "{raw}");
                if let Some(reasoning) = entry["reasoning"].as_str() {
                    assert_eq!(reply.reasoning, reasoning, "{raw}");
                }
                compared += 1;
            }
        }
    }
    assert_eq!((compared, doubled), (16 + 15, 2));
}

#[test]
fn hostile_replies_neither_overflow_nor_stall() {
    let many = 1 << 20;
    for unit in [
        "[", "{", "{\"a\":", "}", "{\"", "{\\\"", "\"{", "{}", "{\"\\", "```",
    ] {
        let raw = unit.repeat(many / unit.len());
        assert_eq!(parse_judge_reply(&raw, 40, &[]).score, None, "{unit}");
        parse_judge_reply_compat(&raw, 40);
        let ended = raw + r#" {"score": 7}"#;
        let score = parse_judge_reply(&ended, 40, &[]).score;
        assert!(score.is_none() || score == Some(7), "{unit}");
    }
    let open = "{".repeat(many) + r#"{"score": 7}"#;
    assert_eq!(parse_judge_reply(&open, 40, &[]).score, Some(7));
}

/// Pieces that replies are made of, so that random ones come near to being right.
fn replies() -> impl Strategy<Value = String> {
    let number = (-5_000_000..5_000_000_i32, 0..6)
        .prop_map(|(mantissa, digits)| (f64::from(mantissa) / 10_f64.powi(digits)).to_string());
    let piece = prop_oneof![
        4 => number.prop_map(|number| format!("{{\"score\": {number}}}")),
        1 => "[{}\\[\\]\":, \\\\0-9e.-]{0,6}",
        1 => Just("```json\n".to_owned()),
        1 => Just("{\"score\": \"".to_owned()),
        1 => Just("\"reasoning\": \"x\"".to_owned()),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Every number that is written in the text, as points.
fn numbers(text: &str) -> Vec<u8> {
    text.split(|char: char| !(char.is_ascii_digit() || "+-.eE".contains(char)))
        .filter_map(|word| word.parse::<f64>().ok())
        .map(|number| round_half_up(number).clamp(0.0, 40.0) as u8)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_score_is_invented(raw in replies()) {
        let reply = parse_judge_reply(&raw, 40, &[]);
        prop_assert_eq!(reply.score.is_none(), reply.status == Unparseable);
        if let Some(score) = reply.score {
            prop_assert!(numbers(&raw).contains(&score), "{score} in {raw}");
        }
    }

    #[test]
    fn no_text_makes_a_reader_fail(raw in any::<String>(), max in any::<u8>()) {
        let reply = parse_judge_reply(&raw, max, &[]);
        prop_assert!(reply.score.is_none_or(|score| score <= max));
        let compat = parse_judge_reply_compat(&raw, max).score;
        prop_assert!(compat.is_nan() || (0.0..=f64::from(max)).contains(&compat));
    }

    #[test]
    fn a_plain_reply_is_read_as_it_is(score in 0..=40_u8, reasoning in any::<String>()) {
        let raw = json!({"score": score, "reasoning": reasoning}).to_string();
        prop_assert_eq!(read(&raw), (Parsed, Some(score), reasoning.clone(), false));
        let compat = parse_judge_reply_compat(&raw, 40);
        prop_assert_eq!((compat.score, compat.reasoning), (f64::from(score), json!(reasoning)));
    }
}
