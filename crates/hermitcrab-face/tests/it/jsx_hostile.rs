//! Texts that mean harm: whatever they are, the answer is a shell or faults with places.

use std::sync::LazyLock;

use hermitcrab_face::jsx::compile_shell;
use hermitcrab_kernel::faces::{CompiledShell, ShellError};
use proptest::prelude::*;

/// The result of the compiler, if it keeps its promises.
fn sound(text: &str) -> Result<CompiledShell, Vec<ShellError>> {
    let answer = compile_shell(text);
    match &answer {
        Ok(shell) => {
            assert!(text.contains(&shell.source));
            assert!(
                shell
                    .script
                    .starts_with("globalThis.__hermitcrab(function (React, ReactDOM) {\n")
            );
            assert!(shell.script.ends_with("\n});\n"));
            assert!(!shell.component.is_empty() && shell.map.is_some());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            let lines: Vec<_> = text.split('\n').collect();
            for error in errors {
                // The compiler is never at a loss, and its script never needs to be refused.
                assert!(!error.message.contains("another way"), "{text}");
                assert!(!error.message.contains("one function"), "{text}");
                let (Some(line), Some(column)) = (error.line, error.column) else {
                    assert_eq!(error.line, error.column);
                    continue;
                };
                assert!(line >= 1 && column >= 1, "{error:?}");
                let length = lines[line as usize - 1].chars().count();
                assert!(column as usize <= length + 1, "{error:?}");
                assert!(error.source_line.is_some());
            }
        }
    }
    answer
}

#[test]
fn depth_without_end_is_refused() {
    let within = |open: &str, close: &str| {
        let depth = 100_000.min(250_000 / (open.len() + close.len()));
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!("function App() {{ return {open}1{close}; }}")
    };
    for (open, close) in [
        ("(", ")"),
        ("(", ""),
        ("[", "]"),
        ("{", "}"),
        ("{a:", "}"),
        ("f(", ")"),
        ("`${", "}`"),
        ("function(){", "}"),
        ("(a=", ")"),
        ("a<", ""),
        ("A<", ">"),
    ] {
        let text = within(open, close);
        let errors = sound(&text).unwrap_err();
        assert_eq!(errors[0].kind, "syntax", "{open}");
        assert!(errors[0].message.contains("flatter"), "{open}: {errors:?}");
        assert!(sound(&format!("```jsx\n{text}\n```")).is_err());
    }
}

/// The longest chains that a text has room for, each in a face that compiles.
#[test]
fn chains_are_compiled_to_the_end() {
    let face = |open: &str, close: &str, around: fn(String) -> String| {
        let depth = 261_000 / (open.len() + close.len());
        around(format!("{}a{}", open.repeat(depth), close.repeat(depth)))
    };
    for (open, close) in [
        ("!", ""),
        ("- ", ""),
        ("typeof ", ""),
        ("new ", ""),
        ("void ", ""),
        ("1+", ""),
        ("1**", ""),
        ("a&&", ""),
        ("a??", ""),
        ("a in ", ""),
        ("a?a:", ""),
        ("a?", ":a"),
        ("a=", ""),
        ("a+=", ""),
        ("a=>", ""),
        ("async a=>", ""),
        ("<T,>(a)=>", ""),
        ("class extends ", "{}"),
        ("", "()"),
        ("", "[0]"),
        ("", "``"),
        ("", "!"),
        ("", ".a"),
        ("", "?.a"),
        ("", " as A"),
    ] {
        let value = |chain| format!("function App(a) {{ a = {chain}; return <p/>; }}");
        let answer = sound(&face(open, close, value));
        assert!(answer.is_ok(), "{open} {close}: {:?}", answer.unwrap_err());
    }
    for (open, close) in [("<a>", "</a>"), ("<>", "</>")] {
        let tags = face(open, close, |chain| {
            format!("function App() {{ return {chain}; }}")
        });
        let answer = sound(&tags);
        assert!(answer.is_ok(), "{open}: {:?}", answer.unwrap_err());
    }
    for open in ["if(a)", "for(;;)", "while(a)", "if(a);else "] {
        let statement = |chain| format!("function App(a) {{ {chain}; return <p/>; }}");
        let answer = sound(&face(open, "", statement));
        assert!(answer.is_ok(), "{open}: {:?}", answer.unwrap_err());
    }
}

#[test]
fn chains_without_an_end_are_refused() {
    for open in ["<a>", "<a b=", "await ", "1<", "a.", "a<", "<T extends A<"] {
        let open = open.repeat(100_000 / open.len());
        let _ = sound(&format!("function App() {{ return {open}1; }}"));
    }
    for unclosed in ["a<", "<T extends A<", "f<A<", "<a b=<a>"] {
        let open = unclosed.repeat(1000 / unclosed.matches('<').count());
        let _ = sound(&format!("function App() {{ return {open}1; }}"));
    }
    for repeated in [
        "a:",
        "do ",
        "type A=B<",
        "`",
        "/*",
        "```\n",
        "\n",
        "const A=",
        "@a ",
    ] {
        let _ = sound(&repeated.repeat(100_000 / repeated.len()));
    }
}

#[test]
fn a_sum_of_a_thousand_strings_is_a_face() {
    let sum = "'a' + ".repeat(1000);
    assert!(sound(&format!("function App() {{ return <p>{{{sum}''}}</p>; }}")).is_ok());
}

#[test]
fn nothing_leaves_the_function() {
    for text in [
        "function App() { return <p/>; } }); alert(1); (function () {",
        "function App() { return <p/>; }\n}\n}); alert(1);\n(() => {{",
        "function App() { return <p/>; }\n}); globalThis.__hermitcrab(() => 1); ({",
        "return <p/>; }; }); ({ a() {",
    ] {
        let errors = sound(text).unwrap_err();
        assert_eq!(errors[0].kind, "syntax", "{text}");
    }
    for text in [
        "#!/bin/sh\nfunction App() { return <p/>; }",
        "/** @jsx h */ /** @jsxRuntime automatic */ function App() { return <p/>; }",
        "/*! @license }); alert(1) */ function App() { return <p/>; }",
        "'use strict'; function App() { return <p/>; }",
        "const React = window.React; var ReactDOM = 1; function App() { return <p/>; }",
    ] {
        let script = sound(text).unwrap().script;
        for unwanted in ["#!", "h(", "import", "alert", "require"] {
            assert!(!script.contains(unwanted), "{script}");
        }
    }
}

#[test]
fn marks_that_end_a_script_are_harmless() {
    let text = "const A = '</script>\u{2028}', B = `</SCRIPT \u{2029}`, C = /<\\/script>/, D = { '</script>': 1 };\n\
        // </script>\nfunction App() { return <p title=\"</script>\">{A}{'<!--'}{C}{D}{B} &lt;/script&gt;</p>; }";
    let script = sound(text).unwrap().script.to_lowercase();
    assert!(!script.contains("</script"), "{script}");
}

#[test]
fn many_faults_are_told_in_few_words() {
    let text = format!(
        "function App() {{\n{}return <p/>;\n}}",
        "break;\n".repeat(20_000)
    );
    let errors = sound(&text).unwrap_err();
    assert!(errors.len() > 1 && errors.len() <= 50, "{}", errors.len());
    let text = format!(
        "function App() {{ return <p>{{{}}}</p>; }}",
        "lost + ".repeat(30_000) + "1"
    );
    let errors = sound(&text).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].source_line.as_ref().unwrap().chars().count() < 400);
}

/// The face of the offline brain.
static FACE: LazyLock<String> = LazyLock::new(|| crate::kernel_file("brain/offline/shell.jsx"));

/// Pieces of which broken and whole shells are made.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "function App() { return ",
        "function App(",
        "<p>",
        "</p>",
        "<p/>",
        "{",
        "}",
        "(",
        ")",
        "`",
        "${",
        "\"",
        "'",
        "```jsx\n",
        "```\n",
        "\n",
        "\r\n",
        "export default ",
        "import React from 'react';",
        "import ",
        "return ",
        "const A = ",
        "() => ",
        "async ",
        "await ",
        "props",
        "props.a",
        ";",
        ",",
        "<",
        ">",
        "=",
        "/*",
        "*/",
        "//",
        "/",
        "é",
        "😀",
        "\u{2028}",
        "\u{feff}",
        "class A extends B { ",
        "type T = ",
        ": any",
        " as ",
        "enum E { A }",
        "typeof ",
        "yield ",
        "@a ",
        "#a",
        "<!--",
        "-->",
        "</script>",
        "namespace N { export const a = 1 }",
        "declare ",
        "\0",
        "React.memo(",
        "use ",
        "Here it is.",
        "let me ",
        "export { A as default }",
        "export = A;",
        "import A = B.C;",
        "using x = ",
        "accessor ",
        "?.",
        "??",
        "...",
        "0",
        "\\",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<String>(), 1 => "[ -~\\n]{0,12}"]
}

proptest! {
    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        let _ = sound(&text);
    }

    #[test]
    fn any_pieces_are_answered(pieces in prop::collection::vec(piece(), 0..24)) {
        let _ = sound(&pieces.concat());
    }

    #[test]
    fn what_compiles_compiles_again_to_the_same(pieces in prop::collection::vec(piece(), 0..8)) {
        let text = format!("{}\nfunction App() {{ return <p/>; }}\n", pieces.concat());
        if let Ok(shell) = sound(&text) {
            let again = sound(&shell.source);
            prop_assert_eq!(again.map(|again| again.script), Ok(shell.script));
        }
    }

    #[test]
    fn a_face_with_a_wound_is_answered(at in 0..FACE.len(), length in 0_usize..80, piece in piece()) {
        let start = FACE.floor_char_boundary(at);
        let end = FACE.floor_char_boundary((start + length).min(FACE.len()));
        let _ = sound(&format!("{}{piece}{}", &FACE[..start], &FACE[end..]));
    }
}
