//! Row 8: from nothing to a face, an edit in it, a change of it by talk, and all of it after a restart. Offline.

use std::sync::Arc;
use std::time::Duration;

use hermitcrab_face::Runtime;
use hermitcrab_kernel::conversation::Author;
use hermitcrab_kernel::{OfflineBrain, ScriptBrain};

use super::home::{FACE, Plan};
use super::react;
use test_support::browser::{self, Browser};

/// Says something in the face of the offline script and waits for the answer.
async fn say(browser: &Browser, text: &str, answer: &str) {
    browser.enter_frame(FACE).await;
    browser.type_into("[aria-label=message]", text).await;
    browser.press("Send").await;
    browser.leave_frame().await;
    in_face(browser, answer).await;
    // A click stands for one message a second.
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// Waits until the face that is seen says `text`, also when another one takes its place meanwhile.
async fn in_face(browser: &Browser, text: &str) {
    browser
        .in_frame_until(FACE, &format!("document.body.innerText.includes({text:?})"))
        .await;
}

const GROUND: &str = "getComputedStyle(document.querySelector('main')).backgroundColor";

#[test]
fn from_nothing_to_a_face_that_is_edited_changed_and_kept() {
    browser::run(async |browser| {
        let runtime = react::best();
        let dir = tempfile::tempdir().unwrap();
        let home = Plan::in_dir(dir.path())
            .on(&runtime)
            .open(Arc::new(OfflineBrain))
            .await;
        browser.open(&home.url).await;
        in_face(browser, "I am the offline script").await;
        assert!(
            !browser
                .eval("location.href")
                .await
                .as_str()
                .unwrap()
                .contains('#')
        );
        let bar = browser.text("#bar").await;
        let is_builtin = runtime == Runtime::builtin();
        let react = if is_builtin {
            "limited React"
        } else {
            runtime.name()
        };
        assert!(bar.contains("script") && bar.contains(react), "{bar}");

        // A block, walked to and edited in the face.
        browser.enter_frame(FACE).await;
        browser.press("network").await;
        browser
            .type_into("[aria-label='new text below']", "Met in a browser.")
            .await;
        browser.press("Add").await;
        browser.wait_for_text("body", "saved network").await;
        browser.leave_frame().await;

        // The face, changed by talk.
        say(browser, "remember: likes dark blue", "emember").await;
        say(browser, "colour #223344", "#223344").await;
        browser
            .in_frame_until(FACE, &format!("{GROUND} === 'rgb(34, 51, 68)'"))
            .await;
        let shells = home.kernel.faces().shells();
        assert_eq!(shells.len(), 2, "{shells:?}");
        assert_eq!(shells[1].mounted, Some(true));
        let said = home.kernel.record().unwrap();
        home.close().await;

        // Another start on the same folder. Its brain has nothing to say.
        let silent = Arc::new(ScriptBrain::new([]));
        let home = Plan::in_dir(dir.path())
            .on(&runtime)
            .open(silent.clone())
            .await;
        browser.open(&home.url).await;
        browser
            .in_frame_until(FACE, &format!("{GROUND} === 'rgb(34, 51, 68)'"))
            .await;
        in_face(browser, "likes dark blue").await;
        browser.enter_frame(FACE).await;
        browser.press("network").await;
        browser.wait_for_text("body", "Met in a browser.").await;
        browser.leave_frame().await;
        assert_eq!(home.kernel.faces().shells().len(), 2);
        let kept = home.kernel.record().unwrap();
        assert_eq!(kept.len(), said.len());
        assert!(
            said.iter()
                .filter(|message| message.by == Author::Person)
                .count()
                >= 2
        );
        assert!(silent.asked().is_empty(), "a kept face needs no model");
        home.close().await;
    });
}
