//! Every message on record has an author, which is not guessed from the words.

use std::fs;

use hermitcrab_kernel::conversation::{Author, window};
use hermitcrab_kernel::prompt::BOOT_MESSAGE;
use hermitcrab_kernel::{EventSink, ScriptStep};
use llm_client::Message;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, call, face};

/// The authors and words that a person reads.
fn said(place: &Place) -> Vec<(String, String)> {
    let said = place.kernel.said().unwrap();
    (said.into_iter())
        .map(|said| (said.by.to_string(), said.text))
        .collect()
}

fn pairs(said: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = said.iter().map(|(by, text)| ((*by).into(), (*text).into()));
    owned.collect()
}

#[tokio::test]
async fn h17_words_in_brackets_are_their_authors() {
    let (place, _) = Setting::default().script([
        ScriptStep::text(r#"["a"]"#),
        call("t", "get_datetime", json!({})),
        ScriptStep::text(""),
        ScriptStep::text("It is late."),
    ]);
    place.say("[a list, please]").await;
    place.say("What time is it?").await;
    let words = [
        ("person", "[a list, please]"),
        ("model", r#"["a"]"#),
        ("person", "What time is it?"),
        ("model", "It is late."),
    ];
    assert_eq!(said(&place), pairs(&words));
    // The model was asked for a sentence, and that is the kernel's.
    let record = place.kernel.record().unwrap();
    let asks = |text: &str| text.contains("Say to the person");
    let ask = record.iter().find(|said| asks(&said.message.text()));
    assert_eq!(ask.unwrap().by, Author::Kernel);
    let at = "2026-11-22T14:00:00Z".parse().unwrap();
    let history = window::entries(&record, at);
    assert_eq!(
        history.collect::<Vec<_>>(),
        [
            "2026-11-22 | person: [a list, please]\nhermitcrab: [\"a\"]",
            "2026-11-22 | person: What time is it?\ntools: get_datetime",
            "2026-11-22 | hermitcrab: It is late.",
        ]
    );
}

#[tokio::test]
async fn h17_the_first_message_of_a_boot_is_the_kernels() {
    let (place, _) = Setting::page().script([face("a")]);
    place.boot().await;
    let record = place.kernel.record().unwrap();
    assert_eq!(record[0].message, Message::user(BOOT_MESSAGE));
    assert_eq!(record[0].by, Author::Kernel);
    assert_eq!(said(&place), []);
}

#[tokio::test]
async fn h17_a_face_is_the_author_of_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let (place, brain) = Setting::default()
        .in_dir(dir.path())
        .script([ScriptStep::text("No.")]);
    let (events, cancel) = (EventSink::new(|_| {}), CancellationToken::new());
    let turn = (place.kernel).turn_of_face(3, "Buy it.".to_owned(), events, cancel);
    turn.await.unwrap();
    let marked = "[From face 3, not from the person] Buy it.";
    assert_eq!(said(&place), pairs(&[("face 3", marked), ("model", "No.")]));
    assert_eq!(brain.asked()[0].messages, [Message::user(marked)]);
    let file = fs::read_to_string(dir.path().join("conversation.jsonl")).unwrap();
    let lines: Vec<Value> = (file.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let authors: Vec<_> = lines
        .iter()
        .map(|line| (&line["message"]["by"], &line["message"]["schema_version"]))
        .collect();
    assert_eq!(
        authors,
        [(&json!("face 3"), &json!(4)), (&json!("model"), &json!(4))]
    );
}

/// The first version of the record had no authors: they are found in the words, once, where it is read.
#[tokio::test]
async fn h17_a_record_without_authors_is_read_by_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let note = "[From the face, not from the person: face 1: it broke]";
    let messages = [
        Message::user(BOOT_MESSAGE),
        Message::assistant("Hi."),
        Message::new(
            llm_client::Role::User,
            vec![
                llm_client::Block::text(note),
                llm_client::Block::text("What happened?"),
            ],
        ),
        Message::assistant("[nothing]"),
        Message::user("[From face 2, not from the person] Look."),
        Message::assistant("I look."),
    ];
    let lines = messages.map(|message| {
        let at = "2026-11-20T14:00:00Z";
        let line = json!({"message": {"schema_version": 1, "at": at, "message": message}});
        format!("{line}\n")
    });
    fs::write(dir.path().join("conversation.jsonl"), lines.concat()).unwrap();
    let steps = [ScriptStep::text("Yes.")];
    let (place, _) = Setting::default().in_dir(dir.path()).script(steps);
    place.say("And now?").await;
    let words = [
        ("model", "Hi."),
        ("person", "What happened?"),
        ("model", "[nothing]"),
        ("face 2", "[From face 2, not from the person] Look."),
        ("model", "I look."),
        ("person", "And now?"),
        ("model", "Yes."),
    ];
    assert_eq!(said(&place), pairs(&words));
}
