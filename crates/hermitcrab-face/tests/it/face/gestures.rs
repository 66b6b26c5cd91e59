//! The actions of a face while the person is absent, and before it is mounted.

use std::sync::Arc;

use hermitcrab_kernel::{OfflineBrain, Role, ScriptStep};
use pscale_blocks::EditAuthor;
use serde_json::json;

use super::home::{FACE, Home, Plan, face};
use test_support::browser::{self, Browser};

/// Says something as soon as it is there, and at each click.
const TALKS: &str = "function App(props) {
  const [said, setSaid] = React.useState('...');
  const say = (text) => props.send(text).then((answer) => setSaid(answer.text), (error) => setSaid(error.error));
  const trial = async () => {
    try { setSaid((await props.send('by itself')).text); } catch (error) { setTimeout(trial, 100); }
  };
  React.useEffect(() => { trial(); }, []);
  return <div><button id='say' onClick={() => say('by a click')}>say</button><p id='said'>{said}</p></div>;
}";

/// Presses and lets go of the mouse in the middle of an element of the face, as a person does.
async fn press_in_face(browser: &Browser, selector: &str) {
    browser.enter_frame(FACE).await;
    browser.click(selector).await;
    browser.leave_frame().await;
}

fn texts_of_the_person(home: &Home) -> Vec<String> {
    let mut texts = Vec::new();
    for said in home.kernel.record().unwrap() {
        if said.message.role == Role::User {
            texts.push(said.message.text());
        }
    }
    texts
}

#[test]
fn a_click_in_the_frame_is_a_gesture_and_an_effect_is_none() {
    browser::run(async |browser| {
        let answers = ["one", "two"].map(ScriptStep::text);
        let steps = [face(TALKS)].into_iter();
        let home = Home::with_script(steps.chain(answers)).await;
        browser.open(&home.url).await;
        browser
            .in_frame_until(
                FACE,
                "document.querySelector('#said').textContent === 'one'",
            )
            .await;
        press_in_face(browser, "#say").await;
        browser
            .in_frame_until(
                FACE,
                "document.querySelector('#said').textContent === 'two'",
            )
            .await;
        let said = texts_of_the_person(&home);
        assert!(
            said.contains(&"[From face 1, not from the person] by itself".to_owned()),
            "{said:?}"
        );
        assert!(said.contains(&"by a click".to_owned()), "{said:?}");
        home.close().await;
    });
}

/// Asks a model ten times at each click, and counts the answers.
const GREEDY: &str = "function App(props) {
  const [seen, setSeen] = React.useState('');
  const ask = async () => {
    let answers = 0;
    for (let n = 0; n < 10; n += 1) {
      await props.callLLM([{ role: 'user', content: 'x' }]).then(() => { answers += 1; }, () => {});
    }
    setSeen(`${answers} answers`);
  };
  return <div><button id='ask' onClick={ask}>ask</button><p id='seen'>{seen}</p></div>;
}";

#[test]
fn one_press_allows_a_few_requests() {
    browser::run(async |browser| {
        let mut plan = Plan::default();
        plan.config.settings.budgets.face_calls_hour = 1;
        let home = plan.open(Arc::new(OfflineBrain)).await;
        assert!(!home.kernel.recompile(GREEDY).await.is_error);
        browser.open(&home.url).await;
        browser
            .in_frame_until(FACE, "document.querySelector('#ask')")
            .await;
        press_in_face(browser, "#ask").await;
        let seen = "document.querySelector('#seen').textContent";
        let seen = browser.in_frame_until(FACE, seen).await;
        // Four by the press, and the one of this hour that needs none.
        assert_eq!(seen, "5 answers");
        home.close().await;
    });
}

/// Says something again and again, and counts its tries.
const PERSISTENT: &str = "function App(props) {
  const [tries, setTries] = React.useState(0);
  React.useEffect(() => { (async () => {
    for (let n = 1; ; n += 1) {
      await props.send('by itself').catch(() => new Promise((done) => setTimeout(done, 50)));
      setTries(n);
    }
  })(); }, []);
  return <p id='tries'>{tries}</p>;
}";

#[test]
fn a_press_on_the_bar_is_no_gesture_of_the_face() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        assert!(!home.kernel.recompile(PERSISTENT).await.is_error);
        browser.open(&home.url).await;
        let tries = "Number(document.querySelector('#tries').textContent)";
        let more = |count: u64| format!("{tries} > {count} && {tries}");
        let seen = browser.in_frame_until(FACE, &more(6)).await;
        browser.press("Log").await;
        let seen = seen.as_u64().unwrap();
        browser.in_frame_until(FACE, &more(seen + 20)).await;
        for said in texts_of_the_person(&home) {
            assert!(!said.starts_with("by itself"), "{said}");
        }
        home.close().await;
    });
}

/// Asks for its successor before it has mounted, and never does.
const HASTY: [(&str, &str); 3] = [
    ("throws", "throw new Error('boom');"),
    ("leaves", "location = 'about:blank'; while (true) {}"),
    ("hangs", "while (true) {}"),
];

#[test]
fn a_face_that_never_mounts_has_called_nothing() {
    browser::run(async |browser| {
        let home = Home::with_face("function Good() { return <p id='good'>good</p>; }").await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        for (name, then) in HASTY {
            let before = home.kernel.faces().shells().len();
            let jsx = format!(
                "function Bad(props) {{
                   props.recompile('function Successor() {{ return <p>{name}</p>; }}');
                   props.blockWrite('memory', '0.1', 'written by {name}');
                   {then}
                   return <p>bad</p>;
                 }}"
            );
            assert!(home.kernel.recompile(&jsx).await.is_error, "{name}");
            browser
                .in_frame_until(FACE, "document.querySelector('#good')")
                .await;
            assert_eq!(home.kernel.faces().shells().len(), before + 1, "{name}");
        }
        let memory = home
            .tool(
                "block_read",
                json!({"name": "memory", "view": "subtree"}),
                EditAuthor::Person,
            )
            .await;
        assert!(!memory.text().contains("written by"), "{}", memory.text());
        home.close().await;
    });
}

/// Is sound, asks for its successor, and then goes wrong.
const LATE: [(&str, &str); 3] = [
    ("throws", "setN(1);"),
    ("leaves", "location = 'about:blank';"),
    ("hangs", "while (true) {}"),
];

#[test]
fn a_face_that_goes_wrong_does_not_choose_its_successor() {
    browser::run(async |browser| {
        let good = "function Good() { return <p id='good'>good</p>; }";
        let home = Home::with_face(good).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        for (name, then) in LATE {
            assert!(!home.kernel.recompile(good).await.is_error, "{name}");
            let before = home.kernel.faces().shells().len();
            let jsx = format!(
                "function Bad(props) {{
                   const [n, setN] = React.useState(0);
                   if (n) throw new Error('boom');
                   React.useEffect(() => {{ setTimeout(() => {{
                     props.recompile('function Successor() {{ return <p id=\\'next\\'>{name}</p>; }}');
                     {then}
                   }}, 100); }}, []);
                   return <p>bad</p>;
                 }}"
            );
            let bad = home.kernel.recompile(&jsx).await;
            assert!(!bad.is_error, "{name}: {}", bad.text());
            let rev = home.kernel.faces().shells().last().unwrap().rev;
            browser
                .until(&format!("the end of a face that {name}"), async || {
                    let shells = home.kernel.faces().shells();
                    let dead = shells.iter().find(|shell| shell.rev == rev);
                    dead.filter(|shell| shell.deaths > 0).map(drop)
                })
                .await;
            browser
                .in_frame_until(FACE, "document.querySelector('#good')")
                .await;
            let shells = home.kernel.faces().shells();
            assert_eq!(shells.len(), before + 1, "{name}: {shells:#?}");
        }
        home.close().await;
    });
}
