//! Parts of a record that has archives.

use hermitcrab_kernel::ScriptStep;
use llm_client::{Block, StopReason};
use serde_json::json;

use super::{archives, text, write_file};
use crate::place::{Place, Setting};

/// A conversation of 2,002 messages, most of them in an archive.
async fn archived(dir: &std::path::Path) -> Place {
    write_file(dir, 2_000, 600, 1_980);
    let (place, _) = (Setting::default().in_dir(dir)).script([ScriptStep::text("<2002>")]);
    place.say("<2001>").await;
    place
}

#[tokio::test]
async fn the_tool_reads_at_most_a_hundred_messages_from_archive_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let place = archived(dir.path()).await;
    let read = place.tool("conversation_read", json!({"from": 1_950, "limit": 5_000}));
    let read = read.await.content;
    let messages = read["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &read["of"]), (53, &json!(2_002)));
    let first = json!({"n": 1_950, "by": "model", "role": "assistant", "text": text(1_950, 600)});
    assert_eq!(messages[0], first);
    assert_eq!(messages[52]["text"], "<2002>");
    let read = place
        .tool("conversation_read", json!({"limit": 5_000}))
        .await;
    let messages = read.content["messages"].as_array().unwrap().clone();
    assert_eq!((messages.len(), &messages[0]["n"]), (100, &json!(1)));
    let past = place
        .tool("conversation_read", json!({"from": 2_003}))
        .await;
    assert_eq!(past.content, json!({"messages": [], "of": 2_002}));
}

#[tokio::test]
async fn a_range_in_the_file_opens_no_archive() {
    let dir = tempfile::tempdir().unwrap();
    let place = archived(dir.path()).await;
    std::fs::write(&archives(dir.path())[0], "no archive").unwrap();
    let read = place
        .tool("conversation_read", json!({"from": 1_983}))
        .await;
    assert_eq!(read.content["messages"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_damaged_archive_hides_no_other_messages() {
    let dir = tempfile::tempdir().unwrap();
    let place = archived(dir.path()).await;
    std::fs::write(&archives(dir.path())[0], "no archive").unwrap();
    let read = place.tool("conversation_read", json!({"limit": 2})).await;
    let numbers: Vec<_> = (read.content["messages"].as_array().unwrap().iter())
        .map(|message| message["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1_983, 1_984]);
    let page = place.kernel.said_before(None, 200).unwrap();
    assert_eq!((page.messages.len(), page.before), (20, None));
    assert_eq!(read.content["unread"], json!(page.unread));
    let [why] = &page.unread[..] else {
        panic!("{:?}", page.unread);
    };
    assert!(why.starts_with("conversation/1-1982.jsonl.gz: "), "{why}");
    // Who asks for all of it is told.
    assert!(place.kernel.record().is_err());
}

#[tokio::test]
async fn a_wrong_number_in_an_archive_hides_no_other_message() {
    for wrong in [5_000, 3, 1_900] {
        let dir = tempfile::tempdir().unwrap();
        let place = archived(dir.path()).await;
        let path = &archives(dir.path())[0];
        let lines = super::unpacked(path).replace("\"n\":100,", &format!("\"n\":{wrong},"));
        std::fs::remove_file(path).unwrap();
        durable::Disk::default()
            .pack(path, lines.as_bytes())
            .unwrap();
        let read = place
            .tool("conversation_read", json!({"from": 99, "limit": 2}))
            .await;
        let numbers: Vec<_> = (read.content["messages"].as_array().unwrap().iter())
            .map(|message| message["n"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [99, 101], "{wrong}");
        assert_eq!(place.kernel.said().unwrap().len(), 2_001, "{wrong}");
        let page = place.kernel.said_before(None, 2_002).unwrap();
        assert_eq!(page.messages.len(), 2_001, "{wrong}");
    }
}

#[tokio::test]
async fn the_words_come_in_pages_that_meet() {
    let dir = tempfile::tempdir().unwrap();
    let place = archived(dir.path()).await;
    let all = place.kernel.said().unwrap();
    assert_eq!(all.len(), 2_002);
    let mut before = None;
    let mut pages = Vec::new();
    let mut sizes = Vec::new();
    loop {
        let page = place.kernel.said_before(before, 300).unwrap();
        sizes.push(page.messages.len());
        pages.splice(0..0, page.messages);
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [300, 300, 300, 300, 300, 300, 202]);
    assert!(pages == all);
    let whole = place.kernel.said_before(None, 2_002).unwrap();
    assert_eq!((whole.messages.len(), whole.before), (2_002, None));
}

/// The words of the model in a turn are one text, also where a page begins.
#[tokio::test]
async fn a_page_does_not_cut_a_text() {
    let dir = tempfile::tempdir().unwrap();
    let call = |id: &str, words: &str| {
        let used = ScriptStep::tool_use(id, "block_list", &json!({}));
        ScriptStep::reply(vec![Block::text(words), used], StopReason::ToolUse)
    };
    let (place, _) = (Setting::default().in_dir(dir.path())).script([
        call("a", "One."),
        call("b", "Two."),
        ScriptStep::text("Three."),
        ScriptStep::text("Yes."),
    ]);
    place.say("Count.").await;
    place.say("Done?").await;
    let page = place.kernel.said_before(None, 3).unwrap();
    let texts: Vec<_> = page.messages.iter().map(|said| &*said.text).collect();
    assert_eq!(texts, ["One.\n\nTwo.\n\nThree.", "Done?", "Yes."]);
    let rest = place.kernel.said_before(page.before, 3).unwrap();
    assert_eq!(
        (
            rest.messages[0].text.as_str(),
            rest.messages.len(),
            rest.before
        ),
        ("Count.", 1, None)
    );
}

#[tokio::test]
async fn the_rest_is_read_when_an_archive_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let place = archived(dir.path()).await;
    std::fs::remove_file(&archives(dir.path())[0]).unwrap();
    let read = place.tool("conversation_read", json!({"limit": 2})).await;
    let messages = read.content["messages"].as_array().unwrap();
    let numbers = messages
        .iter()
        .map(|message| message["n"].as_u64().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), [1_983, 1_984]);
    let page = place.kernel.said_before(None, 200).unwrap();
    assert_eq!((page.messages.len(), page.before), (20, None));
}
