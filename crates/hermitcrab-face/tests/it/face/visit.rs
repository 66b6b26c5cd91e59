//! The visit of a person: questions before a skill, a missing key, a reload, a second page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use hermitcrab_face::Keys;
use hermitcrab_kernel::OfflineBrain;
use secrecy::SecretString;
use serde_json::json;

use super::home::{FACE, Home, Plan};
use test_support::browser::{self, Browser};

/// Asks where it is, and shows the answer.
const WHERE: &str = "function App(props) {
  const [said, setSaid] = React.useState('nothing');
  const [asked, setAsked] = React.useState(0);
  const ask = async () => {
    let line;
    try { line = JSON.stringify(await props.browser.geolocation()); } catch (error) { line = error.error; }
    setAsked((n) => n + 1);
    setSaid(line);
  };
  return <div><button id='ask' onClick={ask}>where</button><p id='said'>{asked}: {said}</p></div>;
}";

/// Clicks the face's button; then that of the question, if there is to be one.
async fn ask(browser: &Browser, answer: Option<&str>) {
    browser.enter_frame(FACE).await;
    browser.click("#ask").await;
    browser.leave_frame().await;
    if let Some(answer) = answer {
        let question = browser.wait_for_text("dialog.question", "wants to").await;
        assert!(
            question.contains("Face 1 wants") && question.contains("know where you are"),
            "{question}"
        );
        // The buttons that allow are dead for a moment, lest a click meant for something else hits them.
        browser
            .wait_until("!document.querySelector('dialog.question button:disabled')")
            .await;
        browser.press(answer).await;
    }
    browser
        .wait_until("!document.querySelector('dialog.question')")
        .await;
}

async fn said(browser: &Browser, text: &str) {
    browser
        .in_frame_until(
            FACE,
            &format!("document.querySelector('#said').textContent.includes({text:?})"),
        )
        .await;
}

/// Offers forty files as soon as it is there, and counts those that were offered.
const OFFERS: &str = "function App(props) {
  const [seen, setSeen] = React.useState('');
  React.useEffect(() => { (async () => {
    let offered = 0;
    for (let n = 0; n < 40; n += 1) {
      await props.browser.download('a.txt', 'x').then(() => { offered += 1; }, () => {});
    }
    setSeen(offered);
  })(); }, []);
  return <p id='said'>{seen}</p>;
}";

#[test]
fn a_face_does_not_bury_the_person_in_files() {
    browser::run(async |browser| {
        let home = Home::with_face(OFFERS).await;
        browser.open(&home.url).await;
        let seen = "document.querySelector('#said').textContent";
        let offered = browser.in_frame_until(FACE, seen).await;
        let offered: u32 = offered.as_str().unwrap().parse().unwrap();
        // Five at once, and one more in each five seconds.
        assert!((5..20).contains(&offered), "{offered}");
        home.close().await;
    });
}

/// Presses ten times a second for a second and a half, as in a game, and says whether the question can be allowed then.
const PRESSES: &str = "
  const dialog = document.querySelector('dialog.question');
  const allow = [...dialog.querySelectorAll('button')].find((one) => one.textContent === 'Allow once');
  for (let n = 0; n < 15; n += 1) {
    allow.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 100));
  }
  window.wasDisabled = allow.disabled;";

#[test]
fn a_row_of_clicks_does_not_answer_a_question() {
    browser::run(async |browser| {
        let home = Home::with_face(WHERE).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        browser.enter_frame(FACE).await;
        browser.click("#ask").await;
        browser.leave_frame().await;
        browser.wait_for("dialog.question").await;
        browser
            .js(&format!("(async () => {{ {PRESSES} }})();"))
            .await;
        browser.wait_until("window.wasDisabled !== undefined").await;
        assert_eq!(browser.eval("window.wasDisabled").await, true);
        browser
            .wait_until("!document.querySelector('dialog.question button:disabled')")
            .await;
        home.close().await;
    });
}

#[test]
fn a_skill_is_refused_allowed_once_and_allowed_for_the_visit() {
    browser::run(async |browser| {
        let home = Home::with_face(WHERE).await;
        let place = json!({"latitude": 47.5, "longitude": 8.25, "accuracy": 10});
        browser
            .devtools("Emulation.setGeolocationOverride", place)
            .await;
        browser
            .devtools(
                "Browser.grantPermissions",
                json!({"permissions": ["geolocation"]}),
            )
            .await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        ask(browser, Some("Refuse")).await;
        said(browser, "1: denied").await;
        ask(browser, Some("Allow once")).await;
        said(browser, "2: {").await;
        said(browser, "47.5").await;
        ask(browser, Some("Allow for this visit")).await;
        said(browser, "3: {").await;
        ask(browser, None).await;
        said(browser, "4: {").await;
        // A visit ends with the page.
        browser.reload().await;
        browser.wait_for(FACE).await;
        ask(browser, Some("Refuse")).await;
        said(browser, "1: denied").await;
        home.close().await;
    });
}

/// A program without a key.
#[derive(Default)]
struct Keyless {
    offline: AtomicBool,
}

#[async_trait]
impl Keys for Keyless {
    fn wanted(&self) -> Option<String> {
        (!self.offline.load(Ordering::SeqCst)).then(|| "anthropic".to_owned())
    }

    async fn set(&self, _: SecretString) -> Result<(), String> {
        Err("that is no key".to_owned())
    }

    async fn offline(&self) {
        self.offline.store(true, Ordering::SeqCst);
    }
}

#[test]
fn without_a_key_the_page_asks_for_one_or_goes_on_offline() {
    browser::run(async |browser| {
        let plan = Plan {
            keys: Arc::new(Keyless::default()),
            ..Plan::default()
        };
        let home = plan.open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        let question = browser
            .wait_for_text("dialog.question", "A key for anthropic")
            .await;
        assert!(question.contains("not stored"), "{question}");
        assert!(
            home.kernel.faces().shells().is_empty(),
            "a model was asked before there was one"
        );
        browser.type_into("#key", "sk-nonsense").await;
        browser.press("Use it for this run").await;
        browser
            .wait_for_text("dialog.question .fault", "that is no key")
            .await;
        // One look, and first the one that needs nothing.
        let looks = "[...document.querySelectorAll('dialog.question .actions button')].map((one) => one.className)";
        let looks = browser.eval(looks).await;
        assert_eq!(looks, json!(["", ""]));
        let first = "document.querySelector('dialog.question .actions button').textContent";
        assert_eq!(browser.eval(first).await, "Continue offline");
        browser.press("Continue offline").await;
        browser.wait_for(FACE).await;
        browser.wait_for_text("#bar", "script").await;
        home.close().await;
    });
}

/// Keeps a number for itself.
const KEEPS: &str = "function App(props) {
  const [kept, setKept] = React.useState('...');
  React.useEffect(() => { props.state.get().then((state) => setKept(state ? state.n : 'nothing')); }, []);
  const keep = () => props.state.set({ n: 7 }).then(() => setKept('saved'));
  return <button id='keep' onClick={keep}>kept {kept}</button>;
}";

#[test]
fn a_reload_brings_back_the_last_good_face_and_what_it_kept() {
    browser::run(async |browser| {
        let home = Home::with_face(KEEPS).await;
        browser.open(&home.url).await;
        browser.enter_frame(FACE).await;
        browser.wait_for_text("#keep", "kept nothing").await;
        browser.click("#keep").await;
        browser.wait_for_text("#keep", "kept saved").await;
        browser.leave_frame().await;
        let broken = home
            .kernel
            .recompile("function Bad() { return <p>; }")
            .await;
        assert!(broken.is_error);
        browser.reload().await;
        browser
            .in_frame_until(
                FACE,
                "document.querySelector('#keep').textContent === 'kept 7'",
            )
            .await;
        home.close().await;
    });
}

#[test]
fn two_pages_see_one_conversation() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        let hello = "document.body.innerText.includes('I am the offline script')";
        browser.in_frame_until(FACE, hello).await;
        let first = browser.tab().await;
        browser.new_tab().await;
        // The cookie lets the second page in.
        browser.open(&format!("http://{}/", home.addr)).await;
        browser.in_frame_until(FACE, hello).await;
        browser.enter_frame(FACE).await;
        browser
            .type_into("[aria-label=message]", "write purpose 0: unheard of")
            .await;
        browser.press("Send").await;
        browser.leave_frame().await;
        let answered = "document.body.innerText.includes('unheard of')";
        browser.in_frame_until(FACE, answered).await;
        browser.switch_tab(first).await;
        browser.in_frame_until(FACE, answered).await;
        home.close().await;
    });
}
