//! Every fixture shell on both runtimes. The snapshots hold what React shows; the built-in runtime must match them, and
//! where React is at hand, its whole document must be that of React.

use std::fs;
use std::path::Path;

use hermitcrab_face::Runtime;
use hermitcrab_face::jsx::compile_shell;
use serde_json::json;
use test_support::fixture;

use super::react::kept_react;
use test_support::browser::{self, Browser, Served, Site};

/// A file of `fixtures/hermitcrab/shells`, and the steps that it names.
struct Shell {
    name: String,
    script: String,
    steps: Vec<String>,
    /// The shell uses what the built-in runtime leaves out.
    needs_react: bool,
}

fn shells() -> Vec<Shell> {
    let mut paths: Vec<_> = fs::read_dir(fixture("hermitcrab/shells"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsx"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            shell(name, &fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The small shells of `fixtures/hermitcrab/pairs`: several a file, each after a line with its name.
fn pairs() -> Vec<Shell> {
    let files = fs::read_dir(fixture("hermitcrab/pairs")).unwrap();
    let mut texts: Vec<_> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsx"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    texts.sort();
    texts
        .iter()
        .flat_map(|text| text.split("\n// shell: ").skip(1))
        .map(|text| text.split_once('\n').unwrap())
        .map(|(name, text)| shell(name, text))
        .collect()
}

fn shell(name: &str, text: &str) -> Shell {
    let compiled = compile_shell(text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let steps = text
        .lines()
        .filter_map(|line| line.strip_prefix("// step: "))
        .map(str::to_owned)
        .collect();
    Shell {
        name: name.to_owned(),
        script: compiled.script,
        steps,
        needs_react: text.lines().any(|line| line == "// needs React"),
    }
}

#[test]
fn the_built_in_runtime_shows_what_react_shows() {
    browser::run(async |browser| compare(browser, &Runtime::builtin()).await);
}

/// The focus is not in the snapshots; what a runtime may do about it is: it moves nodes, and the field that a person types
/// into keeps focus and caret.
#[test]
fn a_field_that_is_moved_keeps_the_focus_and_the_caret() {
    let moves = "export default function App() {
      const [names, setNames] = React.useState(['a', 'b', 'c']);
      const turn = (event) => { if (event.key === 'Enter') setNames([...names].reverse()); };
      return <p onKeyDown={turn}>{names.map((name) => <input key={name} id={name} defaultValue='text' />)}</p>;
    }";
    browser::run(async |browser| {
        let script = compile_shell(moves).unwrap().script;
        let _site = mount(browser, &Runtime::builtin(), &script).await;
        browser.type_into("#a", key("Home")).await;
        browser.type_into("#a", key("Enter")).await;
        (browser.wait_until("document.querySelector('input').id === 'c'")).await;
        let focus = "[document.activeElement.id, document.activeElement.selectionStart]";
        assert_eq!(browser.eval(focus).await, json!(["a", 0]));
    });
}

/// After a change of a fixture, with `INSTA_UPDATE=always`; then the test above without it.
#[test]
fn react_shows_what_the_snapshots_say() {
    let Some(react) = kept_react() else { return };
    browser::run(async |browser| compare(browser, &react).await);
}

/// Styles, attributes and markup are not in the snapshots.
#[test]
fn both_runtimes_make_the_same_document() {
    same_documents(&shells());
}

/// More of the same in small shells, which have no snapshots.
#[test]
fn small_shells_make_the_same_document_on_both() {
    same_documents(&pairs());
}

fn same_documents(shells: &[Shell]) {
    let Some(react) = kept_react() else { return };
    browser::run(async |browser| {
        for shell in shells.iter().filter(|shell| !shell.needs_react) {
            let theirs = play(browser, &react, shell).await.document;
            let ours = play(browser, &Runtime::builtin(), shell).await.document;
            assert_eq!(ours, theirs, "{}", shell.name);
        }
    });
}

/// The compiler refuses all that React has and the built-in runtime has not.
#[test]
fn each_member_that_is_missing_is_a_need() {
    let Some(react) = kept_react() else { return };
    browser::run(async |browser| {
        let page = "<!doctype html><meta charset=utf-8>\
            <script src=/react.js></script><script>window.a = {React, ReactDOM}</script>\
            <script src=/builtin.js></script>";
        let site = Site::new([
            ("/", Served::html(page)),
            ("/react.js", Served::script(react.script())),
            ("/builtin.js", Served::script(Runtime::builtin().script())),
        ])
        .await;
        browser.open(&site.url("/")).await;
        browser.wait_until("window.a && React !== a.React").await;
        let missing = "['React', 'ReactDOM'].flatMap((root) => Object.keys(a[root])\
            .filter((name) => !(name in window[root])).map((name) => root + '.' + name))";
        let missing = browser.eval(missing).await;
        let missing: Vec<_> = missing.as_array().unwrap().iter().collect();
        assert!(missing.len() > 15, "{missing:?}");
        for member in missing {
            let member = member.as_str().unwrap();
            let shell = format!("function App() {{ return <p>{{typeof {member}.name}}</p>; }}");
            let needs = compile_shell(&shell).unwrap().needs;
            assert!(needs.len() == 1 || member.contains("__SECRET"), "{member}");
        }
    });
}

/// Programs by chance: trees that change, state that is set, contexts, memo, faults and boundaries, effects that are logged.
#[test]
fn random_programs_go_the_same_way_on_both_runtimes() {
    let Some(react) = kept_react() else { return };
    browser::run(async |browser| {
        let page = "<!doctype html><meta charset=utf-8><body>\
            <script src=/react.js></script><script>window.a = {React, ReactDOM}</script>\
            <script src=/builtin.js></script><script>window.b = {React, ReactDOM}</script>\
            <script src=/random.js></script>";
        let site = Site::new([
            ("/", Served::html(page)),
            ("/react.js", Served::script(react.script())),
            ("/builtin.js", Served::script(Runtime::builtin().script())),
            ("/random.js", Served::script(include_str!("random.js"))),
        ])
        .await;
        browser.open(&site.url("/")).await;
        for seed in 1..=400 {
            let differs = browser.eval(&format!("__random([a, b], {seed})")).await;
            assert!(differs.is_null(), "{}", differs.as_str().unwrap());
        }
    });
}

async fn compare(browser: &Browser, runtime: &Runtime) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    // All of them, so that one run says everything that differs.
    let mut differ = Vec::new();
    for shell in shells() {
        if shell.needs_react && *runtime == Runtime::builtin() {
            continue;
        }
        let seen = play(browser, runtime, &shell).await.snapshot;
        let check = || settings.bind(|| insta::assert_snapshot!(shell.name.as_str(), seen));
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err() {
            differ.push(shell.name);
        }
    }
    assert!(
        differ.is_empty(),
        "{} differs in {differ:?}",
        runtime.name()
    );
}

/// Opens a page with a shell and waits until it shows or logs something. The page is served until the value is dropped.
async fn mount(browser: &Browser, runtime: &Runtime, script: &str) -> Site {
    let page = "<!doctype html><meta charset=utf-8><body style='margin: 8px'><div id=root></div>\
        <script src=/runtime.js></script><script src=/harness.js></script><script src=/shell.js></script>";
    let site = Site::new([
        ("/", Served::html(page)),
        ("/runtime.js", Served::script(runtime.script())),
        ("/harness.js", Served::script(include_str!("shells.js"))),
        ("/shell.js", Served::script(script)),
    ])
    .await;
    // Wherever the pointer is left, Chromium moves it there again in the next page, some time later.
    let corner = json!({"type": "mouseMoved", "x": 1279, "y": 799});
    browser.devtools("Input.dispatchMouseEvent", corner).await;
    browser.open(&site.url("/")).await;
    browser.wait_until("__mounted()").await;
    site
}

/// A shell at first and after each of its steps, with its log.
struct Played {
    /// All nodes and attributes.
    document: String,
    /// The things that a person gets, where they changed.
    snapshot: String,
}

async fn play(browser: &Browser, runtime: &Runtime, shell: &Shell) -> Played {
    let _site = mount(browser, runtime, &shell.script).await;
    let (mut document, mut snapshot) = (Vec::new(), Vec::new());
    for step in std::iter::once("mount").chain(shell.steps.iter().map(String::as_str)) {
        if step != "mount" {
            take(browser, step).await;
        }
        let seen = browser.eval("__seen()").await;
        for (all, text) in [(&mut document, &seen[0]), (&mut snapshot, &seen[1])] {
            all.push(format!("== {step}"));
            all.extend(
                text.as_str()
                    .filter(|text| !text.is_empty())
                    .map(str::to_owned),
            );
        }
    }
    Played {
        document: document.join("\n"),
        snapshot: snapshot.join("\n"),
    }
}

#[test]
fn the_snapshots_stay_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/face/snapshots");
    let lines: usize = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            fs::read_to_string(entry.unwrap().path())
                .unwrap()
                .lines()
                .count()
        })
        .sum();
    assert!(lines <= 1200, "{lines} lines");
}

async fn take(browser: &Browser, step: &str) {
    let mut words = step.splitn(3, ' ');
    let (verb, selector) = (words.next().unwrap(), words.next().unwrap());
    let rest = words.next().unwrap_or_default();
    match verb {
        "click" => browser.click(selector).await,
        "double" => {
            point(
                browser,
                selector,
                &[("mousePressed", 1), ("mouseReleased", 1)],
            )
            .await;
            point(
                browser,
                selector,
                &[("mousePressed", 2), ("mouseReleased", 2)],
            )
            .await;
        }
        "hover" => {
            point(browser, selector, &[("mouseMoved", 0)]).await;
            let under = format!("document.querySelector({selector:?}).matches(':hover')");
            browser.wait_until(&under).await;
        }
        "type" => browser.type_into(selector, rest).await,
        "key" => browser.type_into(selector, key(rest)).await,
        "choose" => {
            let option = format!("{selector} option[value='{rest}']");
            browser.click(&option).await;
        }
        _ => panic!("no such step: {step}"),
    }
}

/// `WebDriver`'s names for keys other than letters.
fn key(name: &str) -> &'static str {
    match name {
        "Backspace" => "\u{e003}",
        "Tab" => "\u{e004}",
        "Enter" => "\u{e007}",
        "Escape" => "\u{e00c}",
        "Home" => "\u{e011}",
        "ArrowLeft" => "\u{e012}",
        "Space" => " ",
        _ => panic!("no such key: {name}"),
    }
}

/// Events of the pointer in the middle of an element, with the number of the click.
async fn point(browser: &Browser, selector: &str, events: &[(&str, u32)]) {
    let place = browser
        .eval(&format!(
            "(({{x, y, width, height}}) => [x + width / 2, y + height / 2])\
             (document.querySelector({selector:?}).getBoundingClientRect())"
        ))
        .await;
    for (kind, count) in events {
        let button = if *count > 0 { "left" } else { "none" };
        let event = json!({
            "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": count,
        });
        browser.devtools("Input.dispatchMouseEvent", event).await;
    }
}
