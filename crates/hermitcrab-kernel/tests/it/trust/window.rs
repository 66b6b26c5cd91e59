//! A new window, which the person begins: the messages of before make no edit wait any more.

use std::sync::{Arc, Mutex};

use hermitcrab_kernel::{Event, EventSink};
use serde_json::json;

use super::brain::ObedientBrain;
use super::session::Session;

async fn begin() -> Session {
    let page = ["A page about tides.".to_owned()];
    Session::begin(ObedientBrain::new(&[], Vec::new()), &page).await
}

fn waiting(session: &Session) -> usize {
    session.place.kernel.review().list().unwrap().edits.len()
}

async fn write(session: &Session, text: &str) {
    let input = json!({"name": "constitution", "path": "0.5.8", "content": text});
    session.model("block_write", input).await;
}

fn written(session: &Session) -> Option<String> {
    session.place.text("constitution", "0.5.8")
}

async fn new_window(session: &Session) {
    assert!(session.place.kernel.begin_window(EventSink::none()).await);
}

#[tokio::test]
async fn an_edit_waits_until_the_person_begins_a_new_window() {
    let mut session = begin().await;
    session.model("web_fetch", json!({"url": "PAGE"})).await;
    for _ in 0..30 {
        session.turn(&[]).await;
    }
    write(&session, "One.").await;
    assert_eq!((waiting(&session), written(&session)), (1, None));
    // The page itself left the window long ago.
    let said = session.place.kernel.messages().await;
    assert!(
        said.iter()
            .all(|message| !format!("{message:?}").contains("about tides"))
    );
    // A start changes nothing.
    session = session.next(false).await;
    write(&session, "Two.").await;
    assert_eq!((waiting(&session), written(&session)), (2, None));

    new_window(&session).await;
    assert!(session.place.kernel.messages().await.is_empty());
    write(&session, "Three.").await;
    assert_eq!(waiting(&session), 2);
    assert_eq!(written(&session).as_deref(), Some("Three."));
    let labels = session.place.store.labels(&"constitution".parse().unwrap());
    assert!(labels.unwrap().nodes().is_empty());
    // Nothing is lost: the model can read it, and then an edit waits again.
    let read = json!({"name": "history", "view": "subtree", "path": "0"});
    session.model("block_read", read).await;
    write(&session, "Four.").await;
    assert_eq!(waiting(&session), 3);
    assert_eq!(written(&session).as_deref(), Some("Three."));
}

#[tokio::test]
async fn no_word_of_the_last_turn_is_shown_in_a_new_window_after_a_start() {
    let mut session = begin().await;
    // A turn that alone is too large for the window: the next one shows a few words of it.
    let long = "tides ".repeat(800);
    let calls: Vec<_> = (0..6)
        .map(|n| json!({"name": format!("notes-{n}"), "pscale0": long}))
        .map(|input| ("block_create".to_owned(), input))
        .collect();
    session.model("web_fetch", json!({"url": "PAGE"})).await;
    session.turn(&calls).await;
    session.turn(&[]).await;
    new_window(&session).await;
    session = session.next(false).await;
    write(&session, "Mine.").await;
    assert_eq!(waiting(&session), 0);
    assert_eq!(written(&session).as_deref(), Some("Mine."));
}

#[tokio::test]
async fn a_labelled_line_in_view_makes_edits_wait_in_a_new_window() {
    let session = begin().await;
    let fetch = ("web_fetch".to_owned(), json!({"url": "PAGE"}));
    let note = json!({"name": "memory", "content": "Tides are high at six."});
    let append = ("block_append".to_owned(), note);
    session.turn(&[fetch, append]).await;
    new_window(&session).await;
    write(&session, "One.").await;
    assert_eq!((waiting(&session), written(&session)), (1, None));
    // The person writes the line, and begins again.
    let input = json!({"name": "memory", "path": "0.1", "content": "High water is at six."});
    let by_person = pscale_blocks::Stamp::new(
        session.place.kernel.now(),
        pscale_blocks::EditAuthor::Person,
    );
    let store = &*session.place.store;
    let done =
        hermitcrab_kernel::toolbox::run_block_tool("block_write", input, store, &by_person, None);
    assert!(!done.is_error, "{done:?}");
    new_window(&session).await;
    write(&session, "Two.").await;
    assert_eq!(waiting(&session), 1);
    assert_eq!(written(&session).as_deref(), Some("Two."));
}

#[tokio::test]
async fn a_window_without_messages_can_begin_again() {
    let session = begin().await;
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = notices.clone();
    let sink = EventSink::new(move |event| {
        if let Event::Notice { text } = event {
            heard.lock().unwrap().push(text);
        }
    });
    for _ in 0..2 {
        assert!(session.place.kernel.begin_window(sink.clone()).await);
    }
    assert_eq!(*notices.lock().unwrap(), [""; 0]);
}
