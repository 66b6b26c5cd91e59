//! The page's own panels: what was typed and not saved, the states of faces.

use std::sync::Arc;

use hermitcrab_kernel::OfflineBrain;
use pscale_blocks::EditAuthor;
use serde_json::json;

use super::home::{CHAT, FACE, Home, Plan};
use test_support::browser::{self, Browser};

const TEXT: &str = "#sheet textarea";
const NEW: &str = "#sheet .body > .actions:last-child input";
const ESCAPE: &str = "\u{E00C}";

async fn value(browser: &Browser, selector: &str) -> String {
    let value = format!("document.querySelector({selector:?}).value");
    browser.eval(&value).await.as_str().unwrap().to_owned()
}

async fn asks_before_it_goes(browser: &Browser) -> bool {
    let leave = "!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    browser.eval(leave).await == true
}

/// A program whose page shows the head of the block `memory`.
async fn at_memory(browser: &Browser) -> Home {
    let home = Plan::default().open(Arc::new(OfflineBrain)).await;
    browser.open(&home.url).await;
    browser.wait_for(FACE).await;
    browser.press("Blocks").await;
    browser.press("memory").await;
    browser.wait_for(TEXT).await;
    home
}

async fn to_memory(browser: &Browser) {
    browser.press("All blocks").await;
    browser.press("memory").await;
    browser.wait_for(TEXT).await;
}

#[test]
fn what_is_not_saved_is_kept_until_it_is_saved_or_discarded() {
    browser::run(async |browser| {
        let home = at_memory(browser).await;
        let saved = value(browser, TEXT).await;
        assert!(!asks_before_it_goes(browser).await);
        browser.type_into(TEXT, " and tides").await;
        browser.type_into(NEW, "low water").await;
        assert!(asks_before_it_goes(browser).await);
        // Away and back, by another node, another panel, and Close.
        to_memory(browser).await;
        assert_eq!(value(browser, TEXT).await, format!("{saved} and tides"));
        assert_eq!(value(browser, NEW).await, "low water");
        browser.press("Log").await;
        browser.press("Blocks").await;
        browser.wait_for_text("#sheet .note", "not saved").await;
        browser.press("Close").await;
        browser.press("Blocks").await;
        browser.wait_for_text("#sheet .note", "not saved").await;
        assert_eq!(value(browser, TEXT).await, format!("{saved} and tides"));
        // Escape asks once.
        browser.type_into(TEXT, ESCAPE).await;
        browser
            .wait_for_text("#sheet .note", "Escape once more closes")
            .await;
        assert_eq!(
            browser
                .eval("document.querySelector('#sheet').hidden")
                .await,
            false
        );
        browser.type_into(TEXT, ESCAPE).await;
        browser
            .wait_until("document.querySelector('#sheet').hidden")
            .await;
        browser.press("Blocks").await;
        browser.wait_for_text("#sheet .note", "not saved").await;
        browser.press("Save").await;
        browser
            .wait_until("document.querySelector('#sheet .note').textContent.startsWith('Saved')")
            .await;
        assert_eq!(value(browser, TEXT).await, format!("{saved} and tides"));
        assert_eq!(value(browser, NEW).await, "low water");
        assert!(asks_before_it_goes(browser).await);
        browser.press("Discard").await;
        browser
            .wait_until(&format!("document.querySelector({NEW:?}).value === ''"))
            .await;
        assert!(!asks_before_it_goes(browser).await);
        assert_eq!(value(browser, TEXT).await, format!("{saved} and tides"));
        browser.type_into(TEXT, ESCAPE).await;
        browser
            .wait_until("document.querySelector('#sheet').hidden")
            .await;
        home.close().await;
    });
}

/// Holds each save of the page until `window.release` is called.
const HOLD_SAVES: &str = "
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (text) {
    if (text.includes('blockSave')) window.release = () => send.call(this, text);
    else send.call(this, text);
  };";

#[test]
fn what_is_typed_during_a_save_is_kept() {
    browser::run(async |browser| {
        let home = at_memory(browser).await;
        browser.js(HOLD_SAVES).await;
        for (field, button) in [(TEXT, "Save"), (NEW, "Add")] {
            browser.js("delete window.release;").await;
            browser.type_into(field, " and tides").await;
            browser.press(button).await;
            browser.wait_until("window.release").await;
            browser.type_into(field, " of June").await;
            browser.js("window.release();").await;
            browser
                .wait_until(
                    "document.querySelector('#sheet .note').textContent.startsWith('Saved')",
                )
                .await;
            let shown = value(browser, field).await;
            assert!(shown.ends_with(" and tides of June"), "{shown}");
            assert!(asks_before_it_goes(browser).await);
            browser.press("Discard").await;
            browser
                .wait_until(&format!(
                    "!document.querySelector({field:?}).value.includes('June')"
                ))
                .await;
        }
        home.close().await;
    });
}

/// Cuts the page off until `window.cut` is false.
const CUT_OFF: &str = "
  const { fetch } = window;
  const { send } = WebSocket.prototype;
  window.cut = true;
  window.fetch = (...request) => (window.cut ? Promise.reject(new TypeError('cut')) : fetch(...request));
  WebSocket.prototype.send = function (text) {
    if (window.cut) this.close();
    else send.call(this, text);
  };";

#[test]
fn a_page_that_lost_its_socket_says_so_and_recovers() {
    browser::run(async |browser| {
        let home = at_memory(browser).await;
        browser.type_into(TEXT, " and tides").await;
        let mine = value(browser, TEXT).await;
        browser.js(CUT_OFF).await;
        browser.press("Save").await;
        for place in ["#sheet .fault", "#strips"] {
            (browser.wait_for_text(place, "program cannot be reached")).await;
        }
        assert_eq!(value(browser, TEXT).await, mine);
        browser.press("Log").await;
        (browser.wait_for_text("#sheet .fault", "cannot be reached")).await;
        browser.js("window.cut = false;").await;
        // The log is there by itself, and the line is gone.
        browser.wait_for("#sheet select").await;
        let is_told = "document.querySelector('#strips').textContent.includes('cannot be reached')";
        browser.wait_until(&format!("!{is_told}")).await;
        browser.press("Blocks").await;
        browser.wait_for_text("#sheet .note", "not saved").await;
        assert_eq!(value(browser, TEXT).await, mine);
        browser.press("Save").await;
        let is_saved = "document.querySelector('#sheet .note').textContent.startsWith('Saved')";
        browser.wait_until(is_saved).await;
        let seen = home
            .tool(
                "block_read",
                json!({"name": "memory", "path": "0"}),
                EditAuthor::Person,
            )
            .await;
        assert_eq!(seen.content["content"], mine, "{}", seen.text());
        home.close().await;
    });
}

#[test]
fn a_draft_replaces_no_text_that_the_person_has_not_seen() {
    browser::run(async |browser| {
        let home = at_memory(browser).await;
        browser.type_into(TEXT, " and tides").await;
        let mine = value(browser, TEXT).await;
        let write = async |path: &str, text: &str| {
            let by = EditAuthor::Model {
                id: "other".to_owned(),
                web: None,
            };
            let input = json!({"name": "memory", "path": path, "content": text});
            let written = home.tool("block_write", input, by).await;
            assert!(!written.is_error, "{}", written.text());
        };
        write("0", "of another").await;
        browser.press("Close").await;
        browser.press("Blocks").await;
        browser.wait_for_text("#sheet .note", "not saved").await;
        browser.press("Save").await;
        browser
            .wait_for_text("#sheet .fault", "to \"of another\"")
            .await;
        assert_eq!(value(browser, TEXT).await, mine);
        // An edit elsewhere in the block is not in the way.
        write("0.1", "elsewhere").await;
        browser.press("Save").await;
        browser
            .wait_until("document.querySelector('#sheet .note').textContent.startsWith('Saved')")
            .await;
        assert_eq!(value(browser, TEXT).await, mine);
        home.close().await;
    });
}

#[test]
fn the_safe_face_keeps_what_is_typed() {
    const MESSAGE: &str = "#chat-message";
    browser::run(async |browser| {
        let home = Home::with_face("function App() { return <p>1</p>; }").await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        browser.press("Safe face").await;
        browser.type_into(MESSAGE, "low water").await;
        browser.press("Blocks").await;
        browser.press("memory").await;
        browser.type_into(TEXT, " and tides").await;
        browser.press("Close").await;
        assert_eq!(value(browser, MESSAGE).await, "low water");
        browser.press("Back to the face").await;
        browser
            .wait_until("!document.querySelector('#stage.covered')")
            .await;
        browser.press("Safe face").await;
        assert_eq!(value(browser, MESSAGE).await, "low water");
        home.close().await;
    });
}

#[test]
fn the_safe_face_shows_earlier_messages() {
    const MESSAGES: usize = 450;
    let dir = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for n in 1..=MESSAGES {
        let (by, role) = [("model", "assistant"), ("person", "user")][n % 2];
        let content = json!([{"kind": {"text": {"text": format!("message {n}.")}}}]);
        let message = json!({"role": role, "content": content});
        let at = "2026-11-20T14:00:00Z";
        let line = json!({"schema_version": 3, "n": n, "at": at, "by": by, "message": message});
        lines.push_str(&json!({ "message": line }).to_string());
        lines.push('\n');
    }
    std::fs::write(dir.path().join("conversation.jsonl"), lines).unwrap();
    browser::run(async |browser| {
        let plan = Plan {
            safe: true,
            ..Plan::in_dir(dir.path())
        };
        let home = plan.open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser.wait_for(CHAT).await;
        let shown = "[...document.querySelectorAll('[role=log] p')].map((one) => one.textContent)";
        for count in [200, 400, MESSAGES] {
            let first = format!("message {}.", MESSAGES - count + 1);
            let is_shown = format!("{shown}.length === {count} && {shown}[0].includes({first:?})");
            browser.wait_until(&is_shown).await;
            if count < MESSAGES {
                browser.press("Earlier").await;
            }
        }
        let buttons = "[...document.querySelectorAll('.chat .scroll button')].filter((one) => !one.hidden).length";
        assert_eq!(browser.eval(buttons).await, 0);
        home.close().await;
    });
}

#[test]
fn faces_have_states_in_plain_words() {
    browser::run(async |browser| {
        let home = Home::with_face("function One() { return <p>1</p>; }").await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        home.kernel
            .recompile("function Two() { throw new Error('boom'); }")
            .await;
        home.kernel
            .recompile("function Three() { return <p>3</p>; }")
            .await;
        browser.press("Faces").await;
        browser.wait_for_text("#sheet", "3 Three").await;
        let states =
            "[...document.querySelectorAll('#sheet .state')].map((one) => one.textContent.trim())";
        let states = browser.eval(states).await;
        assert_eq!(
            states,
            serde_json::json!(["shown", "failed", "shown before"])
        );
        home.close().await;
    });
}

#[test]
fn the_log_steps_back_and_forward() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        for content in ["The tide was high.", "The tide was low."] {
            let input = serde_json::json!({"name": "memory", "content": content});
            let edit = home.tool("block_append", input, EditAuthor::Person);
            assert!(!edit.await.is_error);
        }
        browser.press("Log").await;
        browser.wait_for_text("#sheet", "memory 0.2").await;
        for (press, said) in [
            ("Undo", "1 edit of memory taken back."),
            ("Redo", "1 edit of memory made again."),
            (
                "Undo this and the 1 after it",
                "2 edits of memory taken back.",
            ),
            (
                "Redo this and the 1 before it",
                "2 edits of memory made again.",
            ),
            ("Undo", "1 edit of memory taken back."),
        ] {
            let open = "document.querySelectorAll('#sheet details').forEach((one) => { one.open = true; })";
            browser.eval(open).await;
            browser.press(press).await;
            browser.wait_for_text("#sheet", said).await;
            let silent = "document.querySelector('#sheet .body > p').textContent = ''";
            browser.eval(silent).await;
        }
        let memory = "memory".parse().unwrap();
        let block = home.kernel.store().load(&memory).unwrap().block;
        assert!(block.text(&"0.1".parse().unwrap()).is_ok());
        assert!(block.text(&"0.2".parse().unwrap()).is_err());
        home.close().await;
    });
}

#[test]
fn the_log_asks_for_its_rows_once_at_a_time() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        browser.press("Log").await;
        browser.wait_for("#sheet .rows").await;
        // Questions for rows get no answer from here on, and the page hears of five edits.
        browser
            .js(r#"
                window.asked = 0;
                const send = WebSocket.prototype.send;
                WebSocket.prototype.send = function (text) {
                    window.socket = this;
                    if (text.includes('"method":"log"')) window.asked += 1;
                    else send.call(this, text);
                };
                document.dispatchEvent(new Event('visibilitychange'));
                const news = { type: 'event', event: 'block_changed', data: { name: 'memory' } };
                for (let edit = 0; edit < 5; edit += 1) window.socket.onmessage({ data: JSON.stringify(news) });
            "#)
            .await;
        assert_eq!(browser.eval("window.asked").await, 1);
        home.close().await;
    });
}

#[test]
fn a_summary_shows_what_it_has_lost_and_leads_there() {
    browser::run(async |browser| {
        let home = at_memory(browser).await;
        for day in 1..=10 {
            let mut input =
                json!({"name": "memory", "content": format!("It cost {day}00 euros in all.")});
            if day == 10 {
                input["summary"] = "It cost 100 euros in all, as Grace said.".into();
            }
            let edit = home.tool("block_append", input, EditAuthor::Person).await;
            assert!(!edit.is_error, "{}", edit.text());
        }
        to_memory(browser).await;
        browser.click("#sheet .rows li:first-child button").await;
        browser
            .wait_for_text(
                "#sheet .receipt",
                "keeps 1, has lost 8 and has added 1 facts",
            )
            .await;
        browser
            .eval("document.querySelector('#sheet .receipt').open = true")
            .await;
        browser
            .wait_for_text("#sheet .receipt", "In none of the texts below: Grace")
            .await;
        browser
            .click("#sheet .receipt li:nth-child(2) button")
            .await;
        browser.wait_for(TEXT).await;
        browser.wait_for_text("#sheet .way", "3").await;
        assert_eq!(value(browser, TEXT).await, "It cost 300 euros in all.");
    });
}
