//! The rows of the table of section 8, beyond the shared vectors.

use hermitcrab_face::jsx::{compile_shell, source_place};
use hermitcrab_kernel::faces::{CompiledShell, ShellError};
use serde_json::Value;

fn good(text: &str) -> CompiledShell {
    compile_shell(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn bad(text: &str) -> Vec<ShellError> {
    match compile_shell(text) {
        Err(errors) => errors,
        Ok(shell) => panic!("{text}\n{}", shell.script),
    }
}

/// The faults as `kind line:column`.
fn faults(text: &str) -> Vec<String> {
    let told = |error: &ShellError| match (error.line, error.column) {
        (Some(line), Some(column)) => format!("{} {line}:{column}", error.kind),
        _ => error.kind.clone(),
    };
    bad(text).iter().map(told).collect()
}

/// The component of each text.
#[track_caller]
fn components(cases: &[(&str, &str)]) {
    for (text, component) in cases {
        assert_eq!(good(text).component, *component, "{text}");
    }
}

#[test]
fn fences() {
    components(&[
        (
            "```JSX title=\"a\"\nfunction App(){return <p/>}\n```",
            "App",
        ),
        (
            "```tsx\nfunction A(){return <p/>}\n```\n```ts\nfunction B(){return <p/>}\n```",
            "B",
        ),
        (
            "```react\nfunction A(){return <p/>}\n```\nUse it:\n```jsx\n<A x={1} />\n```",
            "A",
        ),
        (
            "````jsx\n/*\n```\n*/\nfunction App(){return <p/>}\n````",
            "App",
        ),
        ("  ```js\n  function App(){return <p/>}\n  ```", "App"),
        (
            "```css\nb { }\n```\n```typescript\nfunction App(){return <p/>}\n```\n```python\nx = 1\n```",
            "App",
        ),
        ("```jsx\r\nfunction App(){return <p/>}\r\n```\r\n", "App"),
        ("```jsx\nfunction App(){return <p/>}", "App"),
    ]);
    let shell = good("One:\n```jsx\nfunction App(){return <p/>}\n```\n");
    assert_eq!(shell.source, "function App(){return <p/>}\n");
}

#[test]
fn a_program_may_have_fences_in_its_comments() {
    let text = "const help = 1;\n/*\n```jsx\nfunction Old(){return <p/>}\n```\n*/\nexport default function App(){return <p>{help}</p>}";
    assert_eq!(good(text).component, "App");
    assert_eq!(good(text).source, text);
    let wrong = text.replace("{help}", "{helps}");
    assert_eq!(faults(&wrong), ["undefined_name 7:42"]);
}

#[test]
fn a_fence_that_fails_is_not_passed_over_for_an_older_one() {
    let text = "Before:\n```jsx\nfunction App(){return <p/>}\n```\nNow:\n```jsx\nfunction App(){return <b>}\n```\n";
    assert_eq!(faults(text)[0].split(' ').next(), Some("syntax"));
    assert_eq!(bad(text)[0].line, Some(7));
    let text = text.replace("<b>}", "<b>{x}</b>}");
    assert_eq!(faults(&text), ["undefined_name 7:27"]);
}

#[test]
fn an_open_fence_is_told() {
    let errors = bad("```jsx\nfunction App(){\n  return <p>{oops}</p>;\n}");
    assert!(errors.iter().all(|error| error.truncated), "{errors:?}");
    assert_eq!(errors[0].kind, "undefined_name");
    let warned = good("```jsx\nfunction App(){return <p/>}").warnings;
    assert!(warned[0].contains("cut off"), "{warned:?}");
}

#[test]
fn prose_around() {
    components(&[
        (
            "Here's it:\n\nconst App = () => {\n  return <p>it's</p>;\n};\n\nHope it's useful! Let me know.",
            "App",
        ),
        (
            "let me write it:\nfunction App() {\n  return <p/>;\n}\nThat's all.\nBye",
            "App",
        ),
        ("It is: function App() { return <p/>; }", "App"),
        ("Hello!\nfunction App() { return <p/>; }\nEnjoy!", "App"),
        (
            "A face, as asked:\nimport React from 'react';\nexport default class App extends React.Component { render() { return <p/>; } }\nUse <b> for bold.",
            "App",
        ),
    ]);
    let shell = good(
        "So:\nfunction App() { return <p>{two()}</p>; }\nfunction two() { return 2; }\n\nIs that right?\n",
    );
    assert_eq!(
        shell.source.trim_end(),
        "function App() { return <p>{two()}</p>; }\nfunction two() { return 2; }"
    );
    assert_eq!(
        faults("It's here:\n\nfunction App() {\n  return <p>{x}</p>;\n}\nIsn't it good?"),
        ["undefined_name 4:14"]
    );
}

#[test]
fn a_fault_below_a_component_is_not_taken_for_prose() {
    assert_eq!(
        faults("function Row() { return <p/>; }\nfunction App() {\n  return <p>;\n}")[0],
        "syntax 4:1"
    );
    assert_eq!(
        faults("const fs = require('fs');\nfunction App() { return <p/>; }"),
        ["import 1:12"]
    );
    assert_eq!(
        faults("boot();\nfunction App() { return <p/>; }"),
        ["undefined_name 1:1"]
    );
}

#[test]
fn exports_and_returns() {
    components(&[
        ("export default function App() { return <p/>; }", "App"),
        (
            "export default function () { return <p/>; }\nconst late = 1;",
            "default",
        ),
        (
            "export default class extends React.Component { render() { return <p/>; } }",
            "default",
        ),
        ("const Menu = () => <p/>;\nexport default Menu;", "Menu"),
        ("export const Menu = () => <p/>;", "Menu"),
        ("export function Menu() { return <p/>; }", "Menu"),
        (
            "function app() { return <p/>; }\nexport { app as default };",
            "app",
        ),
        (
            "function App() { return <p/>; }\nfunction Menu() { return <p/>; }\nexport default React.memo(Menu);",
            "Menu",
        ),
        (
            "function App() { return <p/>; }\nfunction Menu() { return <p/>; }\nreturn Menu;",
            "Menu",
        ),
        ("function Menu() { return <p/>; }\nreturn <Menu />;", "Menu"),
        (
            "return class Menu extends React.Component { render() { return <p/>; } }",
            "Menu",
        ),
        ("return () => <p/>", "default"),
        ("return <div/>", "default"),
        (
            "function App() { return <p/>; }\nexport default function Menu() { return <p/>; }\nreturn App;",
            "Menu",
        ),
        (
            "const Menu = function () { return <p/>; };\nconst Main = Menu;",
            "Main",
        ),
        (
            "function Shell() { return <p/>; }\nfunction Zed() { return <p/>; }",
            "Shell",
        ),
        (
            "function Root() { return <p/>; }\nfunction Face() { return <p/>; }",
            "Face",
        ),
    ]);
    assert_eq!(
        faults("function helper() { return <p/>; }"),
        ["no_component 1:1"]
    );
    assert_eq!(
        faults("class Store { }\nconst LIMIT = 3;"),
        ["no_component 1:1"]
    );
    assert_eq!(faults("export default { a: 1 };"), ["no_component 1:16"]);
}

#[test]
fn the_script_is_one_call_that_returns_the_component() {
    let shell = good(
        "import { useState as own } from 'react';\nexport default () => <p>{own(1)}{useRef(2)}</p>;",
    );
    let expected = "globalThis.__hermitcrab(function (React, ReactDOM) {\n\"use strict\";\n\
        const own = React[\"useState\"];\nconst useRef = React.useRef;\n{\nreturn () => \
        React.createElement(\"p\", null, own(1), useRef(2));\n}\n});\n";
    assert_eq!(shell.script, expected);
}

#[test]
fn statements_that_return_an_element_are_the_component() {
    let shell = good(
        "const [n, set] = React.useState(0);\nreturn <b onClick={() => set(n + 1)}>{props.model}</b>;",
    );
    let function = "return function (props) {\nconst [n, set] = React.useState(0);\nreturn React.createElement(\"b\"";
    assert!(shell.script.contains(function), "{}", shell.script);
}

#[test]
fn imports() {
    let shell = good(
        "import R, {\n  useState,\n  useEffect as effect\n} from \"react\";\nimport * as D from 'react-dom';\n\
         import { createRoot } from 'react-dom/client';\nimport 'react';\nimport type { FC } from 'react';\n\
         const App: FC = () => { effect(() => {}); return <R.Fragment>{useState(1)}{D.x}</R.Fragment>; };\n\
         createRoot(document.getElementById('root')!).render(<App />);",
    );
    assert_eq!(
        shell.dropped_imports,
        ["react", "react-dom", "react-dom/client"]
    );
    assert!(!shell.script.contains("import"), "{}", shell.script);
    assert!(shell.warnings[0].contains("render"), "{:?}", shell.warnings);
    assert_eq!(
        faults(
            "import x, { y } from './x';\nexport * from \"z\";\nexport default function App() {\n  y(import.meta.url);\n  return <p>{x}</p>;\n}"
        ),
        ["import 1:1", "import 2:1", "import 4:5"]
    );
    assert_eq!(
        faults(
            "function App() {\n  React.useEffect(() => { import('x'); require('y'); });\n  return <p/>;\n}"
        ),
        ["import 2:27", "import 2:40"]
    );
}

#[test]
fn typescript() {
    let shell = good(
        "interface P { a?: string; b: Color }\ntype Q<T> = T | null;\nenum Color { Red, Green }\n\
         declare const nowhere: number;\n\
         export default function App({ a, b }: P): JSX.Element {\n  const q: Q<number> = (a as any)!?.x ?? null;\n\
         const id = <T,>(x: T) => x;\n  return <p>{id<Q<number>>(q)}{b === Color.Red}{q satisfies unknown}</p>;\n}",
    );
    assert!(
        !shell.script.contains("interface") && !shell.script.contains(" as "),
        "{}",
        shell.script
    );
}

#[test]
fn props_are_given_where_they_are_used() {
    for (text, expected) in [
        (
            "function App() { return <p>{props.a}</p>; }",
            "function App(props) {",
        ),
        (
            "const App = () => <p>{props.a}</p>;",
            "const App = (props) =>",
        ),
        (
            "const App = React.memo(function () { return <p>{props.a}</p>; });",
            "React.memo(function(props) {",
        ),
        (
            "export default () => <p>{props.a}</p>;",
            "return (props) =>",
        ),
        (
            "function Row() { return <i>{props.b}</i>; }\nfunction App(props) { return <Row b={props.a} />; }",
            "function Row(props) {",
        ),
        (
            "function App() { const props = { a: 1 }; return <p>{props.a}</p>; }",
            "function App() {",
        ),
    ] {
        let script = good(text).script;
        assert!(script.contains(expected), "{text}\n{script}");
    }
    assert_eq!(
        faults("class App extends React.Component { render() { return <p>{props.a}</p>; } }"),
        ["undefined_name 1:59"]
    );
    assert_eq!(
        faults("const a = props.a;\nfunction App() { return <p>{a}</p>; }"),
        ["undefined_name 1:11"]
    );
}

#[test]
fn names() {
    assert_eq!(
        faults(
            "function App() {\n  typeof guarded;\n  lost = 1;\n  send('x');\n  lost();\n  return <Text>{more}</Text>;\n}"
        ),
        [
            "undefined_name 3:3",
            "undefined_name 4:3",
            "undefined_name 6:11",
            "undefined_name 6:17"
        ]
    );
    let errors = bad("function App() { return <p onClick={() => send('x')}/>; }");
    assert!(errors[0].message.contains("props.send"), "{errors:?}");
    let known = "function App() {\n  const s = new Set([1n, Infinity]);\n  document.title = JSON.stringify([...s].map(Number));\n\
        setTimeout(() => console.log(window.innerWidth, navigator.language, performance.now()), 1);\n\
        const a = new AbortController(); requestAnimationFrame(() => {});\n  return <p>{arguments.length}{new URL('a:b').href}{Intl}{a}</p>;\n}";
    assert!(
        good(known).warnings.is_empty(),
        "{:?}",
        good(known).warnings
    );
}

#[test]
fn what_the_sandbox_refuses_is_warned_of() {
    let shell = good(
        "function App() { fetch('x'); window.localStorage.a = 1; const alert = 1; return <p>{name}{alert}</p>; }",
    );
    let first: Vec<_> = shell
        .warnings
        .iter()
        .filter_map(|warning| warning.split(' ').next())
        .collect();
    assert_eq!(first, ["localStorage", "fetch", "name"]);
}

#[test]
fn components_that_wait() {
    for text in [
        "export default async () => <p/>;",
        "async function App() { return <p/>; }",
        "function* App() { yield <p/>; }",
        "const App = React.memo(async () => <p/>);",
        "return async function App() { return <p/>; }",
        "async function Row() { return <i/>; }\nexport default function App() { return <Row />; }",
    ] {
        assert_eq!(bad(text)[0].kind, "async_component", "{text}");
    }
    let inner = "function App() { const go = async () => { await props.send('x'); for await (const x of y()) {} }; async function* y() {} return <p onClick={go}/>; }";
    assert_eq!(good(inner).component, "App");
    assert_eq!(
        faults("const x = await 1;\nfunction App() { return <p/>; }"),
        ["syntax 1:11"]
    );
}

#[test]
fn all_faults_of_syntax_are_told() {
    let text = "function App() {\n  const a = 1;\n  const a = 2;\n  break;\n  return <p>é{'😀'}{a}</p>;\n}";
    assert_eq!(faults(text), ["syntax 3:9", "syntax 4:3"]);
    let errors = bad("function App() {\n  return <p>😀😀{,}</p>;\n}");
    assert_eq!((errors[0].line, errors[0].column), (Some(2), Some(16)));
    assert_eq!(
        errors[0].source_line.as_deref(),
        Some("  return <p>😀😀{,}</p>;")
    );
}

#[test]
fn no_code_at_all() {
    for text in [
        "",
        "  \n",
        "Hello there, how are you?",
        "Hello",
        "```\n```",
        "```css\nb {}\n```\n",
    ] {
        let kind = &bad(text)[0].kind;
        assert!(
            kind == "no_code" || kind == "no_component",
            "{text}: {kind}"
        );
    }
    assert_eq!(bad("Hello there, how are you?")[0].kind, "no_code");
}

#[test]
fn our_own_faces_compile_without_a_warning() {
    let offline = crate::kernel_file("brain/offline/shell.jsx");
    let constitution = crate::kernel_file("prompt/defaults/constitution.json");
    let constitution: Value = serde_json::from_str(&constitution).unwrap();
    let pattern = constitution["tree"]["0"]["6"]["3"].as_str().unwrap();
    for source in [offline.as_str(), pattern] {
        let shell = good(source);
        assert_eq!(shell.component, "App");
        assert_eq!(shell.source, source);
        assert!(shell.warnings.is_empty(), "{:?}", shell.warnings);
        assert_eq!(
            good(&format!("Here:\n```jsx\n{source}\n```\n")).script,
            shell.script
        );
    }
}

/// Line and column of a mark, from 1: the column in UTF-16 units or in characters.
fn mark(text: &str, mark: &str, units: bool) -> Option<(u32, u32)> {
    let (before, _) = text.split_once(mark)?;
    let line = before.matches('\n').count() as u32 + 1;
    let before = before.rsplit('\n').next()?;
    let column = if units {
        before.encode_utf16().count()
    } else {
        before.chars().count()
    };
    Some((line, column as u32 + 1))
}

#[test]
fn a_place_of_the_script_leads_back_to_the_source() {
    let source = "import { useState } from 'react';\n// a note\ninterface P { a: string }\n\n\
        export default function App(props: P) {\r\n  const [a] = useState(1);\n\n  first(a);\n  const t = '😀é'; second(t);\r\n\
        return (\n    <p>\n      {t}\n      <b>{third()}</b>\n    </p>\n  );\n}\n\
        function first(x: number) {}\nfunction second(x: string) {}\nfunction third() { throw new Error('here'); }\n";
    let reply = format!("Some words.\n```tsx\n{source}```\n");
    let shell = good(&reply);
    let map = shell.map.unwrap();
    for wanted in ["first(a)", "second(t)", "third()", "throw new"] {
        let (line, column) = mark(&shell.script, wanted, true).unwrap();
        assert_eq!(
            source_place(&map, line, column),
            mark(&shell.source, wanted, false),
            "{wanted}\n{}",
            shell.script
        );
    }
    assert_eq!(source_place(&map, 0, 1), None);
    assert_eq!(source_place(&map, 9999, 1), None);
    assert_eq!(source_place("{}", 1, 1), None);
    assert_eq!(source_place("no map", 1, 1), None);
    // A place in front of the source's first line is none.
    assert_eq!(source_place(&map, 1, 1), None);
}
