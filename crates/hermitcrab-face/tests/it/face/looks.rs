//! Colours, names and sizes: both schemes, a screen reader, the keyboard, a phone, a long answer.

use std::sync::Arc;

use hermitcrab_kernel::{OfflineBrain, ScriptBrain, ScriptStep};
use serde_json::json;

use super::home::{CHAT, FACE, Plan};
use test_support::browser::{self, Browser};

/// Every text that is seen with a contrast below 4.5, as a list of lines.
const FAINT: &str = "(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  let seen = 0;
  for (const node of document.body.querySelectorAll('*')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    const isField = node.matches('input, textarea, select');
    if (!(own || isField) || node.disabled || !node.checkVisibility() || node.matches('script, noscript')) continue;
    seen += 1;
    const [one, two] = [light(parts(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: ${node.tagName} ${node.className} ${node.textContent.slice(0, 40)}`);
  }
  return { seen, faint };
})()";

/// Whatever can be used and has no name, and regions that speak.
const NAMELESS: &str = "[...document.querySelectorAll('button, input, textarea, select, a, summary')]
  .filter((one) => !one.hidden && !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length))
  .map((one) => one.outerHTML)";
const SPEAKING: &str =
    "document.querySelectorAll('[role=status], [aria-live], [role=alert], output').length";

async fn nothing_is_faint(browser: &Browser, least: u64, what: &str) {
    let found = browser.eval(FAINT).await;
    assert_eq!(found["faint"], json!([]), "{what}");
    assert!(found["seen"].as_u64().unwrap() >= least, "{what}: {found}");
}

#[test]
fn the_page_and_the_safe_face_follow_the_scheme() {
    browser::run(async |browser| {
        let plan = Plan {
            safe: true,
            ..Plan::default()
        };
        let home = plan.open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser.wait_for(CHAT).await;
        for (name, is_light) in [("light", true), ("dark", false)] {
            browser.set_scheme(name).await;
            let ground =
                "getComputedStyle(NODE).backgroundColor.match(/\\d+/g).every((part) => part > 200)";
            let page = ground.replace("NODE", "document.body");
            assert_eq!(browser.eval(&page).await, is_light, "{name}");
            for panel in ["Blocks", "Log", "Faces"] {
                browser.press(panel).await;
                browser.wait_for("#sheet .rows").await;
                nothing_is_faint(browser, 12, &format!("{panel}, {name}")).await;
                assert_eq!(browser.eval(NAMELESS).await, json!([]), "{panel}");
                assert_eq!(browser.eval(SPEAKING).await, 1, "{panel}");
            }
            browser.press("Close").await;
            let face = ground.replace("NODE", "document.querySelector('.chat')");
            assert_eq!(browser.eval(&face).await, is_light, "{name}");
            nothing_is_faint(browser, 12, &format!("safe face, {name}")).await;
            assert_eq!(browser.eval(NAMELESS).await, json!([]), "safe face");
            assert_eq!(browser.eval(SPEAKING).await, 1, "safe face");
        }
        home.close().await;
    });
}

#[test]
fn b12_the_bar_says_which_runtime_a_face_has_and_why() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        let bar = browser.wait_for_text("#bar .model", "limited React").await;
        assert!(bar.ends_with(" · limited React (asked for)"), "{bar}");
        browser.press("Faces").await;
        let reason = browser.wait_for_text("p.runtime", "limited React").await;
        assert_eq!(
            reason,
            "limited React (asked for): The program was started with the built-in runtime."
        );
        home.close().await;
    });
}

#[test]
fn an_answer_of_megabytes_is_shown_in_pieces() {
    browser::run(async |browser| {
        let plan = Plan {
            safe: true,
            ..Plan::default()
        };
        let answer = ScriptStep::text(&format!("x{}", "🐚".repeat(750_000)));
        let home = plan.open(Arc::new(ScriptBrain::new([answer]))).await;
        browser.open(&home.url).await;
        browser.wait_for(CHAT).await;
        browser.type_into("#chat-message", "Tell me all.").await;
        browser.press("Send").await;
        let shown = "[...document.querySelectorAll('[role=log] p:last-of-type span span')].map((one) => one.textContent.length)";
        browser
            .wait_until("document.querySelector('#chat-message').value === '' && document.querySelectorAll('[role=log] button').length === 1")
            .await;
        assert_eq!(
            browser.eval(shown).await,
            json!([16_383, 16_384, 16_384, 16_384])
        );
        browser.press("Show more").await;
        browser.wait_until(&format!("{shown}.length === 8")).await;
        // It is still there after a reload.
        browser.reload().await;
        browser.wait_until(&format!("{shown}.length === 4")).await;
        home.close().await;
    });
}

#[test]
fn the_keyboard_walks_the_tree_and_a_screen_reader_hears_the_answer() {
    const TAB: &str = "\u{E004}";
    const ENTER: &str = "\u{E007}";
    const ESCAPE: &str = "\u{E00C}";
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        let hello = "document.body.innerText.includes('I am the offline script')";
        browser.in_frame_until(FACE, hello).await;
        browser.enter_frame(FACE).await;
        assert_eq!(browser.eval(NAMELESS).await, json!([]));
        assert_eq!(
            browser
                .eval("document.querySelectorAll('[role=log]').length")
                .await,
            1
        );
        browser.press("keystone").await;
        browser.wait_for("textarea").await;
        let path =
            "[...document.querySelectorAll('nav button')].map((one) => one.textContent).join('.')";
        assert_eq!(browser.eval(path).await, "0");
        // From the text by Tab over the field for a new one to the first row below it.
        browser.type_into("textarea", TAB).await;
        for _ in 0..6 {
            if browser
                .eval("/^1/.test(document.activeElement.textContent)")
                .await
                == true
            {
                break;
            }
            browser.type_into(":focus", TAB).await;
        }
        assert_eq!(
            browser.eval("document.activeElement.tagName").await,
            "BUTTON"
        );
        browser.type_into(":focus", ENTER).await;
        browser.wait_until(&format!("{path} === '0.1'")).await;
        browser.type_into("textarea", ESCAPE).await;
        browser.wait_until(&format!("{path} === '0'")).await;
        browser.type_into("[aria-label=message]", "time").await;
        browser.press("Send").await;
        browser.leave_frame().await;
        browser
            .wait_until("document.querySelector('#said').textContent === 'answer arrived'")
            .await;
        assert_eq!(browser.eval(SPEAKING).await, 1);
        home.close().await;
    });
}

#[test]
fn on_a_phone_the_conversation_comes_first() {
    browser::run(async |browser| {
        let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": false});
        browser
            .devtools("Emulation.setDeviceMetricsOverride", phone)
            .await;
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        let hello = "document.body.innerText.includes('I am the offline script')";
        browser.in_frame_until(FACE, hello).await;
        let notice = browser.text("#strips .brief").await;
        assert!(notice.contains("seeded: "), "{notice}");
        let height = "document.querySelector('#strips .brief').offsetHeight";
        assert!(browser.eval(height).await.as_u64().unwrap() < 50);
        let is_seen = |selector: &str| {
            format!(
                "(() => {{ const one = document.querySelector({selector:?}); const {{ top, bottom }} = one.getBoundingClientRect();
                   return one.checkVisibility() && top >= 0 && bottom <= innerHeight && bottom > top; }})()"
            )
        };
        browser.enter_frame(FACE).await;
        let (message, blocks) = (
            is_seen("[aria-label=message]"),
            is_seen("[aria-label=blocks]"),
        );
        assert_eq!(browser.eval(&message).await, true);
        assert_eq!(browser.eval(&blocks).await, false);
        browser.press("Blocks").await;
        browser.wait_until(&blocks).await;
        browser.press("Blocks").await;
        browser.wait_until(&message).await;
        let wide = "document.documentElement.scrollWidth > innerWidth";
        assert_eq!(browser.eval(wide).await, false);
        home.close().await;
    });
}
