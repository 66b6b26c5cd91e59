//! Turns that leave the window stand in the block `history`, word for word and once.

use std::time::Duration;

use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::conversation::window;
use llm_client::Role;
use pscale_blocks::{BlockName, BlockStore, NodeLine, Path};
use serde_json::json;

use crate::place::{Place, Setting, call};

fn question(n: usize) -> String {
    format!("Question number {n}, and a few words more.")
}

fn answer(n: usize) -> String {
    format!("Answer number {n}.")
}

fn answers(range: std::ops::Range<usize>) -> impl Iterator<Item = ScriptStep> {
    range.map(|n| ScriptStep::text(&answer(n)))
}

async fn talk(place: &Place, range: std::ops::Range<usize>) {
    for n in range {
        assert_eq!(place.say(&question(n)).await.text, answer(n));
    }
}

/// The entries of the block, oldest first.
fn entries(store: &dyn BlockStore) -> Vec<String> {
    let Ok(found) = store.load(&BlockName::new("history").unwrap()) else {
        return Vec::new();
    };
    let block = found.block;
    let steps: Vec<NodeLine> = block.subtree(&Path::root(), None).unwrap();
    steps
        .into_iter()
        .filter(|step| block.pscale(&step.path) == -1)
        .filter_map(|step| step.text)
        .collect()
}

/// Every question is in the block or in the conversation, once and in order.
async fn all_there(place: &Place, questions: usize) {
    let mut texts = entries(&*place.store);
    let moved = texts.len();
    texts.extend(
        place
            .kernel
            .messages()
            .await
            .iter()
            .map(llm_client::Message::text),
    );
    let texts: Vec<_> = texts
        .into_iter()
        .filter(|text| text.contains("Question"))
        .collect();
    assert_eq!(texts.len(), questions, "{moved} have moved");
    for (n, text) in texts.iter().enumerate() {
        assert!(text.contains(&question(n)), "{n}: {text}");
    }
}

#[tokio::test]
async fn what_leaves_the_window_is_in_history_word_for_word() {
    let (place, brain) = Setting::default().script(answers(0..14));
    talk(&place, 0..14).await;
    let entries = entries(&*place.store);
    assert!(!entries.is_empty());
    for (n, entry) in entries.iter().enumerate() {
        let words = format!("person: {}\nhermitcrab: {}", question(n), answer(n));
        assert_eq!(*entry, format!("2026-11-22 | {words}"));
    }
    all_there(&place, 14).await;
    let asked = brain.asked();
    for request in &asked {
        assert!(request.messages.len() <= 20);
        let first = &request.messages[0];
        assert_eq!(first.role, Role::User);
        let begins = first.content[0].as_text().unwrap();
        let is_dropped = !first.text().contains(&question(0));
        assert_eq!(begins == window::NOTICE, is_dropped);
    }
    let last = &asked[13].messages;
    assert_eq!(last[0].content[0].as_text(), Some(window::NOTICE));
    assert!(
        last[0].content[1]
            .as_text()
            .unwrap()
            .starts_with("Question")
    );
    let notices = last.iter().flat_map(|said| &said.content);
    assert_eq!(
        notices
            .filter(|block| block.as_text() == Some(window::NOTICE))
            .count(),
        1
    );
    // The notice is no part of what is kept.
    let kept = place.kernel.messages().await;
    assert!(
        kept.iter()
            .all(|said| !said.text().contains(window::NOTICE))
    );
}

#[tokio::test]
async fn a_turn_is_clipped_at_six_hundred_characters_and_names_its_tools() {
    let long = "ä".repeat(900);
    let (place, _) = Setting::default().script(
        [
            call("a", "block_list", json!({})),
            ScriptStep::text("Six blocks."),
        ]
        .into_iter()
        .chain(answers(0..14)),
    );
    place.say(&long).await;
    talk(&place, 0..14).await;
    let first = &entries(&*place.store)[0];
    assert_eq!(first.matches('ä').count(), 600);
    assert!(
        first.contains('…') && first.contains("block_list"),
        "{first}"
    );
}

#[tokio::test]
async fn entries_grow_over_nine_and_ninety_with_mechanical_summaries() {
    let (place, _) = Setting::default().script(answers(0..115));
    for n in 0..115 {
        place.say(&question(n)).await;
        place.clock.advance(Duration::from_hours(1));
    }
    all_there(&place, 115).await;
    let count = entries(&*place.store).len();
    assert!(count > 91, "{count}");
    let found = place
        .store
        .load(&BlockName::new("history").unwrap())
        .unwrap();
    assert_eq!(found.block.decimal(), 3);
    assert!(
        found
            .block
            .head_text()
            .unwrap()
            .starts_with("What was said")
    );
    let summary = found
        .block
        .text(&"0.1.1".parse().unwrap())
        .unwrap()
        .unwrap();
    assert!(
        summary.starts_with("2026-11-22") && summary.contains("Question number 0"),
        "{summary}"
    );
    let log = place
        .store
        .log(
            &BlockName::new("history").unwrap(),
            pscale_blocks::store::LogRange::ALL,
        )
        .unwrap();
    assert!(
        log.iter()
            .all(|entry| entry.by == pscale_blocks::EditAuthor::Kernel)
    );
}

#[tokio::test]
async fn restarts_lose_nothing_and_repeat_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut place, _) = Setting::default().in_dir(dir.path()).script(answers(0..3));
    talk(&place, 0..3).await;
    for start in (3..40).step_by(4) {
        let setting = Setting::default().after(&place, dir.path());
        let (next, _) = setting.script(answers(start..start + 4));
        place = next;
        place.boot().await;
        talk(&place, start..start + 4).await;
        all_there(&place, start + 4).await;
    }
}

#[tokio::test]
async fn a_turn_that_moved_before_the_program_ended_is_not_moved_again() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::default().in_dir(dir.path()).script(answers(0..16));
    talk(&place, 0..10).await;
    let file = dir.path().join("conversation.jsonl");
    for n in 10..16 {
        let before = std::fs::read_to_string(&file).unwrap();
        place.say(&question(n)).await;
        // The block has the turn, and the record ends before it says so.
        let after = std::fs::read_to_string(&file).unwrap();
        let moved = after[before.len()..].contains("\"moved\"");
        assert!(moved, "turn {n} dropped another one");
        let copy = tempfile::tempdir().unwrap();
        std::fs::write(copy.path().join("conversation.jsonl"), before).unwrap();
        let count = entries(&*place.store).len();
        let again = Setting::default().after(&place, copy.path());
        let mut again = again;
        // Another day: the words decide.
        again.clock = test_support::FakeClock::new();
        again.clock.advance(Duration::from_hours(5 * 24));
        let (again, _) = again.script(answers(n..n + 1));
        again.say(&question(n)).await;
        assert_eq!(entries(&*again.store).len(), count, "turn {n}");
    }
    all_there(&place, 16).await;
}

#[tokio::test]
async fn words_that_no_block_takes_do_not_block_the_others() {
    let odd = "before\u{0}after";
    let tool = "x".repeat(80_000);
    let steps = [
        ScriptStep::text("ok"),
        call("a", &tool, json!({})),
        ScriptStep::text("ok"),
    ];
    let (place, _) = Setting::default().script(steps.into_iter().chain(answers(0..14)));
    place.say(odd).await;
    place.say("Call it").await;
    talk(&place, 0..14).await;
    all_there(&place, 14).await;
    let entries = entries(&*place.store);
    assert!(entries[0].contains("before") && entries[0].contains("after"));
    assert!(entries[1].contains("Call it"));
    assert!(place.notices().iter().all(|line| !line.contains("history")));
}

#[tokio::test]
async fn turns_that_are_equal_are_all_kept() {
    let steps = (0..20).map(|_| ScriptStep::text("Hello."));
    let (place, _) = Setting::default().script(steps);
    for _ in 0..20 {
        place.say("Hello").await;
    }
    let moved = entries(&*place.store).len();
    assert_eq!(moved * 2 + place.kernel.messages().await.len(), 40);
}
