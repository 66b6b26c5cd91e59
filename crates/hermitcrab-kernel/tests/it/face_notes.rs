//! Reports of a face reach the model with its next message, and never as words of the person.

use hermitcrab_kernel::{BrainError, ScriptStep};
use llm_client::{BlockKind, Message, Role};
use serde_json::json;

use crate::place::{Place, Setting, call};

const MARK: &str = "[From the face, not from the person: ";

fn note(place: &Place, line: &str) {
    place.kernel.faces().note(line);
}

fn texts(message: &Message) -> Vec<String> {
    let texts = message
        .content
        .iter()
        .filter_map(llm_client::Block::as_text);
    texts.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_line_stands_before_the_persons_next_words() {
    let (place, brain) =
        Setting::page().script([ScriptStep::text("Sorry."), ScriptStep::text("Yes.")]);
    note(&place, "face 3: TypeError: x is not a function, line 4");
    place.say("What happened?").await;
    let line = format!("{MARK}face 3: TypeError: x is not a function, line 4]");
    let asked = brain.asked();
    assert_eq!(
        texts(&asked[0].messages[0]),
        [line.as_str(), "What happened?"]
    );
    // Once.
    place.say("And now?").await;
    let last = brain.asked()[1].messages.last().unwrap().clone();
    assert_eq!(texts(&last), ["And now?"]);
    // It is on record as a message of the kernel's.
    let record = place.kernel.record().unwrap();
    assert_eq!(texts(&record[0].message), [line]);
    let authors: Vec<_> = record.iter().map(|said| said.by.to_string()).collect();
    assert_eq!(authors, ["kernel", "person", "model", "person", "model"]);
    let said = place.kernel.said().unwrap();
    let said: Vec<_> = said
        .iter()
        .map(|said| (said.role, said.text.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (Role::User, "What happened?"),
            (Role::Assistant, "Sorry."),
            (Role::User, "And now?"),
            (Role::Assistant, "Yes."),
        ]
    );
}

#[tokio::test]
async fn in_a_turn_a_line_stands_in_the_last_result() {
    let (place, brain) = Setting::page().script([
        ScriptStep::tools(&[
            ("a", "block_list", json!({})),
            ("b", "get_datetime", json!({})),
        ]),
        ScriptStep::text("I see."),
    ]);
    // It comes while the turn is under way.
    let kernel = place.kernel.clone();
    let events = hermitcrab_kernel::EventSink::new(move |event| {
        if matches!(event, hermitcrab_kernel::Event::ToolStart { ref name, .. } if name == "get_datetime")
        {
            kernel.faces().note("face 1: it broke");
        }
    });
    let turn = (place.kernel).turn(
        "look".to_owned(),
        events,
        tokio_util::sync::CancellationToken::new(),
    );
    turn.await.unwrap();
    let asked = brain.asked();
    let results = &asked[1].messages[2].content;
    assert_eq!(results.len(), 2, "no message of its own");
    let of = |index: usize| match &results[index].kind {
        BlockKind::ToolResult { content, .. } => content.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(0).len(), 1);
    assert_eq!(
        of(1)[1].as_text(),
        Some(format!("{MARK}face 1: it broke]").as_str())
    );
}

#[tokio::test]
async fn five_lines_of_500_characters_wait_and_equal_ones_are_counted() {
    let (place, brain) = Setting::page().script([ScriptStep::text("Oh.")]);
    for n in 0..9 {
        note(&place, &format!("face 1: error {n}"));
    }
    note(&place, "face 1: error 5");
    note(
        &place,
        &format!("  {}\n\u{1b}[31m\ttail", "long ".repeat(400)),
    );
    note(&place, " \n\t ");
    place.say("hello").await;
    let texts = texts(&brain.asked()[0].messages[0]);
    assert_eq!(texts.len(), 2);
    let lines: Vec<_> = texts[0].lines().collect();
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert_eq!(lines[0], format!("{MARK}face 1: error 6]"));
    assert_eq!(lines[3], format!("{MARK}face 1: error 5 (2 times)]"));
    assert_eq!(lines[4].chars().count(), MARK.chars().count() + 500 + 1);
    assert!(!texts[0].contains('\u{1b}'));
}

#[tokio::test]
async fn no_key_is_in_a_line() {
    let (place, brain) = Setting::page().script([ScriptStep::text("Oh.")]);
    note(
        &place,
        "face 1: it holds sk-ant-api03-MARKERmarker0123456789",
    );
    place.say("hello").await;
    let text = texts(&brain.asked()[0].messages[0]).concat();
    assert!(
        text.contains("it holds") && !text.contains("MARKER"),
        "{text}"
    );
}

#[tokio::test]
async fn a_line_that_did_not_reach_the_model_waits_for_the_next_message() {
    let failure = || ScriptStep::Error(BrainError::Other("down".to_owned()));
    let (place, brain) = Setting::page().script([
        failure(),
        call("a", "block_list", json!({})),
        failure(),
        ScriptStep::text("Here."),
    ]);
    note(&place, "face 1: first");
    place.try_say("one").await.unwrap_err();
    note(&place, "face 1: second");
    note(&place, "face 1: first");
    // The round with the tool is on record, and with it what was told; the request after it fails.
    place.try_say("two").await.unwrap_err();
    place.say("three").await;
    let asked = brain.asked();
    let before: Vec<_> = texts(&asked[1].messages[0])[0]
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        before,
        [
            format!("{MARK}face 1: second]"),
            format!("{MARK}face 1: first (2 times)]")
        ]
    );
    let last = asked[3].messages.last().unwrap();
    assert!(!texts(last).concat().contains("first"), "{last:?}");
}

#[tokio::test]
async fn a_stopped_turn_that_said_nothing_gives_its_lines_back() {
    let (place, brain) = Setting::page().script([ScriptStep::Hang, ScriptStep::text("Here.")]);
    note(&place, "face 1: it broke");
    let cancel = tokio_util::sync::CancellationToken::new();
    let turn = (place.kernel).turn("one".to_owned(), place.sink(), cancel.clone());
    let (report, ()) = tokio::join!(turn, async { cancel.cancel() });
    assert!(report.unwrap().stopped.is_some());
    place.say("two").await;
    let last = brain.asked().pop().unwrap().messages.pop().unwrap();
    assert_eq!(texts(&last).len(), 2, "{last:?}");
}

#[tokio::test]
async fn a_boot_stays_as_it_is() {
    let (place, brain) =
        Setting::page().script([crate::place::face("a"), ScriptStep::text("Here.")]);
    note(&place, "safe face: it broke");
    place.boot().await;
    assert_eq!(texts(&brain.asked()[0].messages[0]), ["BOOT"]);
    // The face came with a result, and the line with it.
    place.say("hello").await;
    let all = serde_json::to_string(&brain.asked()[1].messages).unwrap();
    assert_eq!(all.matches("it broke").count(), 1);
    // What the kernel itself says to the model is nobody's words.
    let said = place.kernel.said().unwrap();
    assert_eq!(said.len(), 2, "{said:?}");
}

#[tokio::test]
async fn old_turns_are_kept_without_what_the_face_said() {
    let steps = (0..30).map(|n| ScriptStep::text(&format!("answer {n}")));
    let (place, _) = Setting::page().script(steps);
    for n in 0..30 {
        note(&place, "face 1: it broke again and again");
        place.say(&format!("question {n}")).await;
    }
    let history = place.text("history", "0.1").unwrap();
    assert!(history.contains("question 0"), "{history}");
    assert!(!history.contains("it broke"), "{history}");
}
