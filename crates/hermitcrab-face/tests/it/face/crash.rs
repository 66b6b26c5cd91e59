//! Row 12 and S2: shells that throw or hang. The bar works meanwhile, the previous face returns, the model receives a line.

use std::sync::Arc;

use hermitcrab_face::Runtime;
use hermitcrab_kernel::{EventSink, ScriptBrain, ScriptStep};
use tokio_util::sync::CancellationToken;

use super::home::{CHAT, FACE, Home, Plan, face};
use super::react::on_both;
use test_support::browser::Browser;

/// A face that is sound and says which it is.
const GOOD: &str = "function Good() {
  const [n, setN] = React.useState(0);
  return <button id='good' onClick={() => setN(n + 1)}>good {n}</button>;
}";

/// Shells that fail before they mount, by the reported phase.
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

/// Clicks a button of the bar five times a second from now on, and counts how often its panel then opened or closed.
/// It is done from within the page: chromedriver itself may wait for a frame that hangs.
async fn keep_clicking_the_bar(browser: &Browser) {
    browser
        .js("window.clicks = 0;
            const button = [...document.querySelectorAll('#bar button')].find((one) => one.textContent === 'Faces');
            const sheet = document.querySelector('#sheet');
            window.clicking = setInterval(() => {
                const before = sheet.hidden;
                button.click();
                if (sheet.hidden !== before) window.clicks += 1;
            }, 200);")
        .await;
}

/// Ends that, with the panel closed; answers how often the bar reacted.
async fn clicks_that_worked(browser: &Browser) -> u64 {
    browser.js("clearInterval(window.clicking);").await;
    let clicks = browser.eval("window.clicks").await.as_u64().unwrap();
    if browser
        .eval("document.querySelector('#sheet').hidden")
        .await
        == false
    {
        browser.click("#sheet header button").await;
    }
    clicks
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

async fn a_shell_that_does_not_mount_leaves_the_face_before_it(
    browser: &Browser,
    runtime: &Runtime,
) {
    let home = Home::with_face_on(runtime, GOOD).await;
    browser.open(&home.url).await;
    the_good_face_answers(browser).await;
    for (name, jsx, phase) in NEVER_MOUNT {
        keep_clicking_the_bar(browser).await;
        let outcome = home.kernel.recompile(jsx).await;
        let clicks = clicks_that_worked(browser).await;
        if phase == "timeout" {
            assert!(
                clicks >= 5,
                "{name}: the bar reacted {clicks} times in three seconds"
            );
        }
        assert!(outcome.is_error, "{name}");
        assert!(outcome.text().contains(phase), "{name}: {}", outcome.text());
        the_good_face_answers(browser).await;
        let told = browser.text("#strips").await;
        assert!(!told.contains("Face 1 stopped"), "{name}: {told}");
    }
    home.close().await;
}

/// Shells that are sound until `#go` is clicked, and the phase that is then reported.
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

/// Clicks the button that makes a face die.
pub async fn click_go(browser: &Browser) {
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

/// Waits until a death of a face is on record. Nothing is asked of the browser meanwhile.
async fn died(home: &Home, browser: &Browser, rev: u64) {
    browser
        .until("the death", async || {
            let shells = home.kernel.faces().shells();
            shells
                .iter()
                .find(|shell| shell.rev == rev && shell.deaths > 0)
                .map(drop)
        })
        .await;
}

async fn a_face_that_dies_gives_way_to_the_one_before_it_and_the_model_is_told(
    browser: &Browser,
    runtime: &Runtime,
) {
    let dir = tempfile::tempdir().unwrap();
    let brain = Arc::new(ScriptBrain::new([
        face(GOOD),
        ScriptStep::text("up"),
        ScriptStep::text("I heard"),
    ]));
    let home = Plan::in_dir(dir.path())
        .on(runtime)
        .open(brain.clone())
        .await;
    browser.open(&home.url).await;
    the_good_face_answers(browser).await;
    for (name, what, phase) in DIE_LATER {
        let shown = home.kernel.recompile(&dies_by(what)).await;
        assert!(!shown.is_error, "{name}: {}", shown.text());
        keep_clicking_the_bar(browser).await;
        click_go(browser).await;
        let rev = home.kernel.faces().shells().last().unwrap().rev;
        died(&home, browser, rev).await;
        let clicks = clicks_that_worked(browser).await;
        if phase == "timeout" {
            assert!(
                clicks >= 10,
                "{name}: the bar reacted {clicks} times in six seconds"
            );
        }
        browser
            .wait_for_text("#strips", &format!("Face {rev} stopped"))
            .await;
        browser.wait_for_text("#strips", "is shown instead").await;
        if phase != "timeout" {
            assert!(!home.kernel.use_shell(1).await.is_error);
            the_good_face_answers(browser).await;
        }
    }

    let events = EventSink::none();
    let turn = home.kernel.turn(
        "what happened?".to_owned(),
        events,
        CancellationToken::default(),
    );
    turn.await.unwrap();
    let heard = format!("{:?}", brain.asked().last().unwrap().messages);
    for (_, _, phase) in DIE_LATER {
        assert!(heard.contains(phase), "{phase} is not in {heard}");
    }
    assert!(heard.contains("boom"));
    home.close().await;

    // The next start is not caught in one of them.
    let silent = Arc::new(ScriptBrain::new([]));
    let home = Plan::in_dir(dir.path())
        .on(runtime)
        .open(silent.clone())
        .await;
    browser.open(&home.url).await;
    browser.wait_for(FACE).await;
    browser.press("Faces").await;
    let running = "[...document.querySelectorAll('#sheet .rows li')].find((one) => !one.querySelector('button'))";
    let running = browser.wait_until(&format!("{running}.textContent")).await;
    // The one that hung is passed over; the one before it died only once.
    assert!(running.as_str().unwrap().starts_with("3 Bad"), "{running}");
    browser
        .in_frame_until(FACE, "document.querySelector('#go')")
        .await;
    assert!(silent.asked().is_empty());
    home.close().await;
}

async fn a_lone_face_that_hangs_ends_in_the_safe_face(browser: &Browser, runtime: &Runtime) {
    let home = Home::with_face_on(runtime, &dies_by("if (on) while (true) {}")).await;
    browser.open(&home.url).await;
    click_go(browser).await;
    died(&home, browser, 1).await;
    browser.wait_for(CHAT).await;
    let frames = browser.eval("document.querySelectorAll('iframe').length");
    assert_eq!(frames.await, 0);
    home.close().await;
}

async fn what_is_thrown_in_an_event_leaves_the_face_and_reaches_the_model(
    browser: &Browser,
    runtime: &Runtime,
) {
    let jsx = "function App() { const [n, setN] = React.useState(0);
        return <button id='go' onClick={() => { setN(n + 1); throw new Error('in a click'); }}>clicked {n}</button>; }";
    let brain = Arc::new(ScriptBrain::new([
        face(jsx),
        ScriptStep::text("up"),
        ScriptStep::text("ok"),
    ]));
    let home = Plan::default().on(runtime).open(brain.clone()).await;
    browser.open(&home.url).await;
    browser.enter_frame(FACE).await;
    browser.click("#go").await;
    browser.wait_for_text("#go", "clicked 1").await;
    browser.leave_frame().await;
    // The line travels behind an answer of the program's.
    browser.press("Faces").await;
    browser.wait_for("#sheet .rows li").await;
    let events = EventSink::none();
    home.kernel
        .turn("and now?".to_owned(), events, CancellationToken::default())
        .await
        .unwrap();
    let heard = format!("{:?}", brain.asked().last().unwrap().messages);
    assert!(heard.contains("in a click"), "{heard}");
    assert_eq!(home.kernel.faces().shells()[0].deaths, 0);
    home.close().await;
}

on_both!(
    a_shell_that_does_not_mount_leaves_the_face_before_it,
    a_face_that_dies_gives_way_to_the_one_before_it_and_the_model_is_told,
    a_lone_face_that_hangs_ends_in_the_safe_face,
    what_is_thrown_in_an_event_leaves_the_face_and_reaches_the_model,
);
