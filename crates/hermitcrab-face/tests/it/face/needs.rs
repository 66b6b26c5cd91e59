//! F4: each feature that only React has is refused without React, at its line, and mounts on React. F1: the first face does not
//! wait for React.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use hermitcrab_face::{BuiltinReason, ReactSources, Runtime};
use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::Value;
#[cfg(unix)]
use test_support::program::is_running;

use super::home::{FACE, Plan, face};
use super::react::{on_builtin, on_react};

/// Each feature, a shell that uses it in line 3 and shows `fine`, and the column.
pub const FEATURES: [(&str, &str, u32); 20] = [
    (
        "createPortal",
        "function App() {\n  const to = document.body;\n  return <p>{ReactDOM.createPortal(<b>fine</b>, to)}</p>;\n}",
        23,
    ),
    (
        "flushSync",
        "function App() { const [n, set] = React.useState('');\n  React.useEffect(() => { setTimeout(() => {\n    ReactDOM.flushSync(() => set('fine')); }); }, []);\n  return <p>{n}</p>;\n}",
        14,
    ),
    (
        "lazy",
        "const Late = () => <b>fine</b>;\n\nconst L = React.lazy(async () => ({ default: Late }));\nfunction App() { return <React.Suspense fallback='...'><L/></React.Suspense>; }",
        17,
    ),
    (
        "Suspense",
        "function App() {\n  return (\n    <Suspense fallback='...'><b>fine</b></Suspense>\n  );\n}",
        6,
    ),
    (
        "Children",
        "const Count = ({ children }) =>\n  <b>{\n    React.Children.count(children) === 2 ? 'fine' : 'no'}</b>;\nfunction App() { return <Count><i/><i/></Count>; }",
        11,
    ),
    (
        "cloneElement",
        "function App() {\n  const b = <b/>;\n  return React.cloneElement(b, {}, 'fine');\n}",
        16,
    ),
    (
        "useSyncExternalStore",
        "const store = { subscribe: () => () => {}, get: () => 'fine' };\nfunction App() {\n  return <b>{useSyncExternalStore(store.subscribe, store.get)}</b>;\n}",
        14,
    ),
    (
        "useImperativeHandle",
        "function App() { const [n, set] = React.useState(''); const own = React.useRef(null);\n  React.useEffect(() => set(own.current), []);\n  React.useImperativeHandle(own, () => 'fine');\n  return <b>{n}</b>;\n}",
        9,
    ),
    (
        "useInsertionEffect",
        "function App() { const [n, set] = React.useState(''); const own = React.useRef('');\n  React.useEffect(() => set(own.current), []);\n  React.useInsertionEffect(() => { own.current = 'fine'; });\n  return <b>{n}</b>;\n}",
        9,
    ),
    (
        "getSnapshotBeforeUpdate",
        "class App extends React.Component { state = { n: '' };\n  componentDidMount() { this.setState({ n: 'almost' }); }\n  getSnapshotBeforeUpdate() { return 'fine'; }\n  componentDidUpdate(p, s, snapshot) { if (this.state.n !== snapshot) this.setState({ n: snapshot }); }\n  render() { return <b>{this.state.n}</b>; }\n}",
        3,
    ),
    (
        "shouldComponentUpdate",
        "class App extends React.Component { state = { n: 'fine' };\n  componentDidMount() { this.setState({ n: 'no' }); }\n  shouldComponentUpdate() { return false; }\n  render() { return <b>{this.state.n}</b>; }\n}",
        3,
    ),
    (
        "getDerivedStateFromProps",
        "class App extends React.Component { state = {};\n\n  static getDerivedStateFromProps() { return { n: 'fine' }; }\n  render() { return <b>{this.state.n}</b>; }\n}",
        10,
    ),
    (
        "contextType",
        "const Word = React.createContext('fine');\nclass App extends React.Component {\n  static contextType = Word;\n  render() { return <b>{this.context}</b>; }\n}",
        10,
    ),
    (
        "componentWillMount",
        "class App extends React.Component { state = {};\n\n  componentWillMount() { this.setState({ n: 'fine' }); }\n  render() { return <b>{this.state.n}</b>; }\n}",
        3,
    ),
    (
        "string ref",
        "class App extends React.Component { state = {};\n  componentDidMount() { if (!this.state.n) this.setState({ n: this.refs.own ? 'fine' : 'no' }); }\n  render() { return <b ref='own'>{this.state.n}</b>; }\n}",
        24,
    ),
    (
        "findDOMNode",
        "class App extends React.Component { state = {};\n  componentDidMount() {\n    if (ReactDOM.findDOMNode(this).localName === 'b') this.setState({ n: 'fine' }); }\n  render() { return <b>{this.state.n}</b>; }\n}",
        18,
    ),
    (
        "PureComponent",
        "const word = 'fine';\n\nclass App extends React.PureComponent { render() { return <b>{word}</b>; } }",
        25,
    ),
    (
        "Profiler",
        "function App() {\n  const tell = () => {};\n  return <React.Profiler id='a' onRender={tell}><b>fine</b></React.Profiler>;\n}",
        17,
    ),
    (
        "computed",
        "const name = ['use', 'State'].join('');\nfunction App() {\n  const [n] = React[name]('fine');\n  return <b>{n}</b>;\n}",
        21,
    ),
    (
        "Suspense",
        "function App({ React: R }) {\n  const {\n    Suspense } = R;\n  return <Suspense fallback='...'><b>fine</b></Suspense>;\n}",
        5,
    ),
];

/// Checks that a shell was not mounted for want of React, and where it needs it.
#[track_caller]
pub fn check_refused(answer: &Value, feature: &str, column: u32) {
    assert_eq!(answer["error"], "needs_react", "{feature}: {answer}");
    assert_eq!(answer["line"], 3, "{feature}: {answer}");
    assert_eq!(answer["column"], column, "{feature}: {answer}");
    let detail = answer["detail"].as_str().unwrap();
    let begin = format!("this face needs React for {feature} (line 3)");
    assert!(detail.starts_with(&begin), "{detail}");
    assert!(detail.contains("hermitcrab runtime fetch"), "{detail}");
}

#[test]
fn without_react_the_face_before_stays_and_the_panel_says_why() {
    on_builtin(async |browser, _| {
        let dir = tempfile::tempdir().unwrap();
        let (feature, jsx, column) = FEATURES[0];
        let good = "function Good() { return <p id='good'>good</p>; }";
        let home = Plan::in_dir(dir.path());
        let brain = ScriptBrain::new([face(good), ScriptStep::text("up")]);
        let home = home.open(Arc::new(brain)).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        let refused = home.kernel.recompile(jsx).await;
        assert!(refused.is_error);
        check_refused(&refused.content, feature, column);
        browser
            .in_frame_until(FACE, "document.querySelector('#good')")
            .await;
        browser.press("Faces").await;
        browser.click("[aria-label='Use face 2']").await;
        browser
            .wait_for_text("#sheet", "this face needs React for createPortal (line 3)")
            .await;
        home.close().await;
    });
}

#[test]
fn each_feature_mounts_on_react() {
    on_react(async |browser, react| {
        let first = "function First() { return <p>first</p>; }";
        let brain = ScriptBrain::new([face(first), ScriptStep::text("up")]);
        let home = Plan::default().on(react).open(Arc::new(brain)).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        for (at, (feature, jsx, _)) in FEATURES.into_iter().enumerate() {
            // The frame before must not be taken for this one.
            let text = format!("fine {at}.");
            let shown = home.kernel.recompile(&jsx.replace("fine", &text)).await;
            assert!(!shown.is_error, "{feature}: {}", shown.text());
            let fine = format!("document.body.textContent.includes({text:?})");
            browser.in_frame_until(FACE, &fine).await;
        }
        home.close().await;
    });
}

/// F1: npm waits for a registry that does not answer.
#[cfg(unix)]
#[test]
fn a_face_is_shown_while_npm_still_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    on_builtin(async |browser, _| {
        let dir = tempfile::tempdir().unwrap();
        let mut sources = ReactSources::new(Duration::from_mins(10));
        sources.npm.program = dir.path().join("npm");
        let pid = dir.path().join("npm.pid");
        let script = format!(
            "#!/bin/sh\necho $$ > '{}'; exec /bin/sleep 600\n",
            pid.display()
        );
        fs::write(&sources.npm.program, script).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&sources.npm.program, mode).unwrap();
        let mut plan = Plan::in_dir(dir.path());
        plan.runtime = Runtime::builtin_because(BuiltinReason::Installing);
        plan.search = Some((sources, dir.path().to_owned()));
        let good = "function Good() { return <p id='good'>good</p>; }";
        let brain = ScriptBrain::new([face(good), ScriptStep::text("up")]);
        let home = plan.open(Arc::new(brain)).await;
        browser.open(&home.url).await;
        browser
            .in_frame_until(FACE, "document.querySelector('#good')")
            .await;
        let bar = "limited React (being installed)";
        browser.wait_for_text("body", bar).await;
        // npm has been started and has not ended.
        let started = async || loop {
            if let Ok(pid) = fs::read_to_string(&pid).unwrap_or_default().trim().parse() {
                return pid;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert!(is_running(started().await));
        home.close().await;
    });
}
