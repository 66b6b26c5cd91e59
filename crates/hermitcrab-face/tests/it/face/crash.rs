//! Row 12 and S2: shells that throw or hang. The bar works meanwhile, the face before returns, the model is told.

use std::sync::Arc;

use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::json;

use super::home::{FACE, Home, Plan, face};
use crate::browser::{self, Browser};

/// A face that is sound and says which it is.
const GOOD: &str = "function Good() {
  const [n, setN] = React.useState(0);
  return <button id='good' onClick={() => setN(n + 1)}>good {n}</button>;
}";

/// Shells that fail before they mount, by the phase that is told of.
const NEVER_MOUNT: [(&str, &str, &str); 5] = [
    (
        "load",
        "const x = undefined; x.y();\nfunction Bad() { return <p>bad</p>; }",
        "load",
    ),
    (
        "render",
        "function Bad() {\n  throw new Error('boom');\n}",
        "render",
    ),
    (
        "effect",
        "function Bad() {\n  React.useEffect(() => {\n    throw new Error('boom');\n  }, []);\n  return <p>bad</p>;\n}",
        "render",
    ),
    (
        "endless render",
        "function Bad() { while (true) {} }",
        "timeout",
    ),
    (
        "endless effect",
        "function Bad() { React.useLayoutEffect(() => { while (true) {} }, []); return <p>bad</p>; }",
        "timeout",
    ),
];

/// Clicks a button of the bar and waits for what it does.
async fn the_bar_works(browser: &Browser) {
    browser.press("Faces").await;
    browser.wait_for("#sheet:not([hidden])").await;
    browser.press("Close").await;
    browser.wait_for("#sheet[hidden]").await;
}

/// The good face is seen and answers.
async fn the_good_face_answers(browser: &Browser) {
    browser
        .in_frame_until(FACE, "document.querySelector('#good')")
        .await;
    browser.enter_frame(FACE).await;
    let before = browser.text("#good").await;
    browser.click("#good").await;
    browser
        .wait_until(&format!(
            "document.querySelector('#good').textContent !== {before:?}"
        ))
        .await;
    browser.leave_frame().await;
}

#[test]
fn a_shell_that_does_not_mount_leaves_the_face_before_it() {
    browser::run(async |browser| {
        let home = Home::with_face(GOOD).await;
        browser.open(&home.url).await;
        the_good_face_answers(browser).await;
        for (name, jsx, phase) in NEVER_MOUNT {
            let (outcome, ()) = tokio::join!(home.kernel.recompile(jsx), the_bar_works(browser));
            assert!(outcome.is_error, "{name}");
            assert!(outcome.text().contains(phase), "{name}: {}", outcome.text());
            the_good_face_answers(browser).await;
        }
        home.close().await;
    });
}
