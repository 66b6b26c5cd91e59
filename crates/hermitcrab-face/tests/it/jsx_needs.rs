//! The features that a shell needs React for, with their places.

use hermitcrab_face::jsx::compile_shell;

/// The needs as `feature line:column`.
fn needs(text: &str) -> Vec<String> {
    let shell = compile_shell(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let needs = shell.needs.iter();
    needs
        .map(|need| format!("{} {}:{}", need.feature, need.line, need.column))
        .collect()
}

/// A component around statements, which begin at line 2, column 1.
fn app(statements: &str) -> String {
    format!("function App(props) {{\n{statements}\nreturn <p/>; }}")
}

#[track_caller]
fn in_app(cases: &[(&str, &[&str])]) {
    for (statements, expected) in cases {
        assert_eq!(needs(&app(statements)), *expected, "{statements}");
    }
}

#[test]
fn bare_names() {
    for feature in [
        "createPortal",
        "flushSync",
        "lazy",
        "Suspense",
        "Children",
        "cloneElement",
        "useSyncExternalStore",
        "useImperativeHandle",
        "useInsertionEffect",
        "PureComponent",
        "Profiler",
    ] {
        let expected = [format!("{feature} 2:11")];
        assert_eq!(needs(&app(&format!("const x = {feature};"))), expected);
        for root in ["React", "ReactDOM", "props.React", "props?.React"] {
            let text = format!("const x = {root}.\n{feature};");
            assert_eq!(needs(&app(&text)), [format!("{feature} 3:1")], "{text}");
        }
    }
    in_app(&[
        ("const lazy = 1; lazy;", &[]),
        ("typeof flushSync; typeof React.lazy;", &[]),
        ("const x = { lazy: 1 }; x.lazy;", &[]),
        ("return <Suspense><b/></Suspense>;", &["Suspense 2:9"]),
        (
            "return <React.Suspense><b/></React.Suspense>;",
            &["Suspense 2:15"],
        ),
    ]);
}

#[test]
fn members_and_variables() {
    in_app(&[
        ("React?.lazy; (React).lazy;", &["lazy 2:8", "lazy 2:22"]),
        ("React['lazy']; React[`lazy`];", &["lazy 2:7", "lazy 2:22"]),
        ("React['useState']; React[0];", &[]),
        ("const x = 'lazy'; React[x];", &["computed 2:25"]),
        ("props.React[props.x];", &["computed 2:13"]),
        (
            "const R = React; R.lazy; R?.['lazy'];",
            &["lazy 2:20", "lazy 2:30"],
        ),
        (
            "const R = window.React || React, Q = R; Q.lazy;",
            &["lazy 2:43"],
        ),
        ("let R; R = props.React; R.lazy;", &["lazy 2:27"]),
        ("const { Suspense: S } = React;", &["Suspense 2:9"]),
        ("const { lazy = 1, useState } = props.React;", &["lazy 2:9"]),
        ("const { [props.x]: y } = React;", &["computed 2:10"]),
        (
            "const { useState, ...rest } = React; rest.lazy;",
            &["lazy 2:43"],
        ),
        ("const { React: { lazy } } = props;", &["lazy 2:18"]),
        ("let lazy; ({ lazy } = React);", &["lazy 2:14"]),
        ("const React = props.React; React.lazy;", &["lazy 2:34"]),
        ("const React = { lazy: 1 }; React.lazy;", &[]),
        ("const f = (R = React) => R.lazy;", &["lazy 2:28"]),
    ]);
    assert_eq!(
        needs("function App({ React: R }) { return <R.Suspense/>; }"),
        ["Suspense 1:40"]
    );
    assert_eq!(
        needs("function App({ React }) {\n  return React.cloneElement(<p/>); }"),
        ["cloneElement 2:16"]
    );
}

#[test]
fn imports() {
    assert_eq!(
        needs(
            "import { useState, lazy as l } from 'react';\nimport { createPortal } from 'react-dom';\nfunction App() { createPortal; return <p/>; }"
        ),
        ["lazy 1:20", "createPortal 2:10"]
    );
    assert_eq!(
        needs("import R, * as Q from 'react';\nfunction App() { R.lazy; return <Q.Profiler/>; }"),
        ["lazy 2:20", "Profiler 2:36"]
    );
}

#[test]
fn methods_of_classes() {
    let class = |body: &str| {
        format!(
            "class App extends Component {{\n{body}\nrender() {{ return <p/>; }} }}\nconst Theme = 1;"
        )
    };
    let cases: [(&str, &[&str]); 10] = [
        (
            "static getDerivedStateFromProps() { return null; }",
            &["getDerivedStateFromProps 2:8"],
        ),
        ("static contextType = Theme;", &["contextType 2:8"]),
        ("getDerivedStateFromProps() {}", &[]),
        (
            "UNSAFE_componentWillMount() {}\ncomponentWillUpdate() {}",
            &["UNSAFE_componentWillMount 2:1", "componentWillUpdate 3:1"],
        ),
        ("getChildContext() {}", &["getChildContext 2:1"]),
        (
            "shouldComponentUpdate() { return true; }",
            &["shouldComponentUpdate 2:1"],
        ),
        (
            "getSnapshotBeforeUpdate = () => 1;",
            &["getSnapshotBeforeUpdate 2:1"],
        ),
        (
            "['shouldComponentUpdate']() {}",
            &["shouldComponentUpdate 2:2"],
        ),
        ("static shouldComponentUpdate() {}", &[]),
        ("lazy() {}", &[]),
    ];
    for (body, expected) in cases {
        assert_eq!(needs(&class(body)), expected, "{body}");
    }
}

#[test]
fn members_that_are_no_bare_names_statics_from_outside_and_refs_that_are_texts() {
    for feature in [
        "act",
        "createFactory",
        "findDOMNode",
        "hydrate",
        "hydrateRoot",
        "render",
        "unmountComponentAtNode",
        "unstable_batchedUpdates",
    ] {
        let expected = [format!("{feature} 2:10")];
        assert_eq!(needs(&app(&format!("ReactDOM.{feature};"))), expected);
    }
    in_app(&[
        ("App.contextType = App;", &["contextType 2:5"]),
        ("App.defaultProps = {}; App.propTypes = {};", &[]),
        ("return <p ref='own'/>;", &["string ref 2:11"]),
        ("const own = props.own; return <p ref={own}/>;", &[]),
        (
            "const root = ReactDOM.createRoot(props.at); root.render(<p/>); root.act();",
            &[],
        ),
    ]);
}

#[test]
fn places_are_sorted_distinct_bounded_and_those_of_the_code() {
    let many = app(&"lazy;\n".repeat(200));
    assert_eq!(needs(&many).len(), 64);
    in_app(&[(
        "flushSync; React.lazy; 'ä'; React.Children;",
        &["flushSync 2:1", "lazy 2:18", "Children 2:35"],
    )]);
    let fenced = format!("A face:\n```jsx\n{}\n```\n", app("lazy;"));
    assert_eq!(needs(&fenced), ["lazy 2:1"]);
    let error = compile_shell(&app("lazy;\nReact.Children; lazy;")).unwrap();
    let error = error.needs_react().unwrap();
    assert_eq!(
        (error.kind.as_str(), error.line, error.column),
        ("needs_react", Some(2), Some(1))
    );
    assert_eq!(error.source_line.as_deref(), Some("lazy;"));
    assert_eq!(
        error.message,
        "this face needs React for lazy (line 2), Children (line 3); React is not installed here: write it without, or the \
         person can run \"hermitcrab runtime fetch\""
    );
}

#[test]
fn what_every_shell_does_needs_nothing() {
    let text = "const Theme = React.createContext(1);
      const Row = React.memo(React.forwardRef((props, ref) => <li ref={ref}>{props.children}</li>));
      class Bound extends React.Component {
        static getDerivedStateFromError(error) { return { error }; }
        componentDidCatch() {}
        render() { return this.props.children; }
      }
      function App(props) {
        const [n, setN] = useState(0);
        React.startTransition(() => setN(1));
        return <Bound><Theme.Provider value={n}><React.Fragment><Row/></React.Fragment></Theme.Provider></Bound>;
      }";
    assert_eq!(needs(text), [""; 0]);
}
