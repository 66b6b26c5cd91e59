//! Row 12 and S2: shells that throw or hang. The bar works meanwhile, the face before returns, the model is told.

use std::sync::Arc;

use hermitcrab_kernel::{ScriptBrain, ScriptStep};

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

/// Shells that are sound until `#go` is clicked, and the phase that is told of then.
const DIE_LATER: [(&str, &str, &str); 3] = [
    ("throws", "if (on) throw new Error('boom');", "render"),
    (
        "sets state in each render",
        "const [n, setN] = React.useState(0); if (on) setN(n + 1);",
        "render",
    ),
    ("hangs", "if (on) while (true) {}", "timeout"),
];

fn dies_by(what: &str) -> String {
    format!(
        "function Bad() {{ const [on, setOn] = React.useState(false); {what} \
         return <button id='go' onClick={{() => setOn(true)}}>go</button>; }}"
    )
}

async fn click_go(browser: &Browser) {
    browser
        .in_frame_until(FACE, "document.querySelector('#go')")
        .await;
    browser.enter_frame(FACE).await;
    // A click that hangs the frame would hold up chromedriver, too.
    browser
        .js("setTimeout(() => document.querySelector('#go').click(), 100)")
        .await;
    browser.leave_frame().await;
}

#[test]
fn a_face_that_dies_gives_way_to_the_one_before_it_and_the_model_is_told() {
    browser::run(async |browser| {
        let dir = tempfile::tempdir().unwrap();
        let brain = Arc::new(ScriptBrain::new([
            face(GOOD),
            ScriptStep::text("up"),
            ScriptStep::text("I heard"),
        ]));
        let home = Plan::in_dir(dir.path()).open(brain.clone()).await;
        browser.open(&home.url).await;
        the_good_face_answers(browser).await;
        for (name, what, _) in DIE_LATER {
            let shown = home.kernel.recompile(&dies_by(what)).await;
            assert!(!shown.is_error, "{name}: {}", shown.text());
            click_go(browser).await;
            if name == "hangs" {
                the_bar_works(browser).await;
            }
            browser
                .wait_for_text("#strips", "Face 1 (Good) is shown instead")
                .await;
            the_good_face_answers(browser).await;
        }
        let shells = home.kernel.shells();
        assert!(
            shells[1..].iter().all(|shell| shell.deaths > 0),
            "{shells:?}"
        );
        assert_eq!(shells[0].deaths, 0);

        let events = hermitcrab_kernel::EventSink::none();
        let turn = home
            .kernel
            .turn("what happened?".to_owned(), events, Default::default());
        turn.await.unwrap();
        let heard = format!("{:?}", brain.asked().last().unwrap().messages);
        for (_, _, phase) in DIE_LATER {
            assert!(heard.contains(phase), "{phase} is not in {heard}");
        }
        assert!(heard.contains("boom"));
        home.close().await;

        // The next start is not caught in one of them.
        let silent = Arc::new(ScriptBrain::new([]));
        let home = Plan::in_dir(dir.path()).open(silent.clone()).await;
        browser.open(&home.url).await;
        the_good_face_answers(browser).await;
        assert!(silent.asked().is_empty());
        home.close().await;
    });
}

#[test]
fn a_lone_face_that_hangs_ends_in_the_safe_face() {
    browser::run(async |browser| {
        let home = Home::with_face(&dies_by("if (on) while (true) {}")).await;
        browser.open(&home.url).await;
        click_go(browser).await;
        browser
            .in_frame_until(FACE, "document.querySelector('[aria-label=message]')")
            .await;
        assert_eq!(
            browser
                .eval("document.querySelector('iframe.shown').title")
                .await,
            "Safe face"
        );
        the_bar_works(browser).await;
        home.close().await;
    });
}

#[test]
fn what_is_thrown_in_an_event_leaves_the_face_and_reaches_the_model() {
    browser::run(async |browser| {
        let jsx = "function App() { const [n, setN] = React.useState(0);
            return <button id='go' onClick={() => { setN(n + 1); throw new Error('in a click'); }}>clicked {n}</button>; }";
        let brain = Arc::new(ScriptBrain::new([
            face(jsx),
            ScriptStep::text("up"),
            ScriptStep::text("ok"),
        ]));
        let home = Plan::default().open(brain.clone()).await;
        browser.open(&home.url).await;
        browser.enter_frame(FACE).await;
        browser.click("#go").await;
        browser.wait_for_text("#go", "clicked 1").await;
        browser.leave_frame().await;
        // The line travels behind an answer of the program's.
        browser.press("Faces").await;
        browser.wait_for("#sheet .rows li").await;
        let events = hermitcrab_kernel::EventSink::none();
        home.kernel
            .turn("and now?".to_owned(), events, Default::default())
            .await
            .unwrap();
        let heard = format!("{:?}", brain.asked().last().unwrap().messages);
        assert!(heard.contains("in a click"), "{heard}");
        assert_eq!(home.kernel.shells()[0].deaths, 0);
        home.close().await;
    });
}
