//! Keys that the person types into the page reach no face, however hard it tries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use hermitcrab_face::Keys;
use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use secrecy::SecretString;
use serde_json::json;

use super::home::{FACE, Plan, face};
use super::react;
use test_support::browser::{self, Browser};

/// Takes the focus again and again, and sends the page's key away so that it asks for another one.
const THIEF: &str = "function App(props) {
  const field = React.useRef(null);
  React.useEffect(() => {
    const timer = setInterval(() => {
      if (window.isFierce) top.focus.call(window);
      field.current.focus();
    }, 5);
    return () => clearInterval(timer);
  }, []);
  return <div><input id='stolen' ref={field} /><button id='ask' onClick={() => props.send('hello')}>ask</button></div>;
}";

/// A program whose key is refused at the second request.
#[derive(Default)]
struct Losing {
    lost: AtomicBool,
}

#[async_trait]
impl Keys for Losing {
    fn wanted(&self) -> Option<String> {
        let lost = self.lost.load(Ordering::SeqCst);
        lost.then(|| "anthropic".to_owned())
    }

    async fn set(&self, _: SecretString) -> Result<(), String> {
        self.lost.store(false, Ordering::SeqCst);
        Ok(())
    }

    async fn offline(&self) {}
}

/// Presses a key after the other, wherever the focus is.
async fn type_keys(browser: &Browser, text: &str) {
    for letter in text.chars() {
        for kind in ["keyDown", "keyUp"] {
            let mut key = json!({"type": kind, "key": letter.to_string()});
            if kind == "keyDown" {
                key["text"] = letter.to_string().into();
            }
            browser.devtools("Input.dispatchKeyEvent", key).await;
        }
    }
}

async fn nothing_was_stolen(browser: &Browser) {
    browser
        .in_frame_until(FACE, "document.querySelector('#stolen')")
        .await;
    browser.enter_frame(FACE).await;
    let stolen = browser
        .eval("document.querySelector('#stolen').value")
        .await;
    browser.leave_frame().await;
    assert_eq!(stolen, "");
}

#[test]
fn a_key_and_a_block_are_typed_into_the_page_only() {
    browser::run(async |browser| {
        let keys = Arc::new(Losing::default());
        let plan = Plan {
            keys: keys.clone(),
            runtime: react::best(),
            ..Plan::default()
        };
        let brain = ScriptBrain::new([
            face(THIEF),
            ScriptStep::text("up"),
            ScriptStep::text("well"),
        ]);
        let home = plan.open(Arc::new(brain)).await;
        browser.open(&home.url).await;
        browser
            .in_frame_until(FACE, "document.activeElement.id === 'stolen'")
            .await;
        // The control: without the page's care the face does get the keys.
        type_keys(browser, "control").await;
        browser
            .in_frame_until(
                FACE,
                "document.querySelector('#stolen').value === 'control'",
            )
            .await;
        browser.enter_frame(FACE).await;
        browser
            .js("document.querySelector('#stolen').value = ''")
            .await;
        browser.js("window.isFierce = true").await;
        keys.lost.store(true, Ordering::SeqCst);
        browser.js("document.querySelector('#ask').click()").await;
        browser.leave_frame().await;

        browser.wait_for("dialog.question #key").await;
        browser
            .wait_until("document.activeElement.id === 'key'")
            .await;
        assert_eq!(
            browser
                .eval("document.querySelectorAll('iframe').length")
                .await,
            0
        );
        type_keys(browser, "sk-secret").await;
        browser
            .wait_until("document.querySelector('#key').value === 'sk-secret'")
            .await;
        browser.press("Use it for this run").await;
        browser
            .wait_until("!document.querySelector('dialog.question')")
            .await;
        nothing_was_stolen(browser).await;

        browser.press("Safe face").await;
        browser
            .wait_until("document.activeElement.id === 'chat-message'")
            .await;
        type_keys(browser, "ebb").await;
        browser
            .wait_until("document.querySelector('#chat-message').value === 'ebb'")
            .await;
        browser.press("Back to the face").await;
        nothing_was_stolen(browser).await;

        browser.press("Blocks").await;
        browser.press("memory").await;
        browser.wait_for("#sheet textarea").await;
        browser
            .js("document.querySelector('#sheet textarea').focus()")
            .await;
        browser
            .wait_until("document.activeElement.matches('#sheet textarea')")
            .await;
        type_keys(browser, "tides").await;
        browser
            .wait_until("document.querySelector('#sheet textarea').value.includes('tides')")
            .await;
        browser.press("Close").await;
        browser
            .wait_until("!document.querySelector('#stage.covered')")
            .await;
        nothing_was_stolen(browser).await;
        home.close().await;
    });
}
