//! The names that a shell may use without declaring them.

use std::collections::HashSet;
use std::sync::LazyLock;

use hermitcrab_kernel::table::{self, Access};

/// Names of ECMAScript and of a browser's window, one a line, sorted. Taken from what Chromium 156 has, without handlers
/// (`onclick`) and without what only rare devices need.
const GLOBALS: &str = include_str!("names.txt");

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| GLOBALS.lines().collect());

/// The members of `React` that are used by their bare names.
const REACT: [&str; 31] = [
    "Children",
    "Component",
    "Fragment",
    "Profiler",
    "PureComponent",
    "StrictMode",
    "Suspense",
    "cloneElement",
    "createContext",
    "createElement",
    "createRef",
    "forwardRef",
    "isValidElement",
    "lazy",
    "memo",
    "startTransition",
    "useCallback",
    "useContext",
    "useDebugValue",
    "useDeferredValue",
    "useEffect",
    "useId",
    "useImperativeHandle",
    "useInsertionEffect",
    "useLayoutEffect",
    "useMemo",
    "useReducer",
    "useRef",
    "useState",
    "useSyncExternalStore",
    "useTransition",
];

/// The members of `ReactDOM` that are used by their bare names.
const REACT_DOM: [&str; 3] = ["createPortal", "createRoot", "flushSync"];

/// The names that the sandbox of a face removes, each with its replacement.
const REFUSED: [(&str, &str); 19] = [
    ("EventSource", "the props"),
    ("Function", "a plain function"),
    ("Notification", "props.browser.notify"),
    ("RTCPeerConnection", "the props"),
    ("SharedWorker", "plain code"),
    ("WebSocket", "the props"),
    ("WebTransport", "the props"),
    ("Worker", "plain code"),
    ("XMLHttpRequest", "the props"),
    ("alert", "an element of the face"),
    ("caches", "props.idb"),
    ("confirm", "an element of the face"),
    ("eval", "plain code"),
    ("fetch", "the props"),
    ("indexedDB", "props.idb"),
    ("localStorage", "props.state"),
    ("open", "props.browser.openTab"),
    ("prompt", "an element of the face"),
    ("sessionStorage", "props.state"),
];

/// Names of the window that are nearly always meant to be one's own.
const OF_THE_WINDOW: [&str; 14] = [
    "blur", "close", "event", "external", "find", "focus", "frames", "length", "name", "origin",
    "parent", "print", "status", "stop",
];

/// The props of a shell that are plain values.
const VALUES: [&str; 4] = ["fastModel", "model", "offline", "version"];

/// A prop of a shell, or an object that holds some, such as `browser`.
fn is_prop(name: &str) -> bool {
    let methods = table::props().iter();
    let mut methods = methods.filter(|prop| prop.who == Access::Face);
    VALUES.contains(&name) || methods.any(|prop| prop.name.split('.').next() == Some(name))
}

/// A name that ECMAScript or the browser defines.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(name)
}

/// The full name for a bare name of React, such as `React.useState`.
pub(super) fn of_react(name: &str) -> Option<String> {
    if REACT.contains(&name) {
        Some(format!("React.{name}"))
    } else if REACT_DOM.contains(&name) {
        Some(format!("ReactDOM.{name}"))
    } else {
        None
    }
}

/// The advice for code that uses a known name; `None` without one.
pub(super) fn warning(name: &str) -> Option<String> {
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Some(format!(
            "{name} does not work in the sandbox of a face; use {instead}"
        ));
    }
    if OF_THE_WINDOW.contains(&name) {
        let meant = if is_prop(name) {
            format!("the prop is props.{name}")
        } else {
            "declare it, if a name of your own is meant".to_owned()
        };
        return Some(format!("{name} is a name of the window here; {meant}"));
    }
    None
}

/// The reason why a name may be missing, with advice.
pub(super) fn advice(name: &str) -> String {
    match name {
        "props" => "give the function a parameter props, or use this.props in a class".to_owned(),
        "module" | "exports" | "process" | "global" | "Buffer" => {
            "this is a browser, not Node; export the component with export default".to_owned()
        }
        _ if is_prop(name) => format!("is props.{name} what is meant?"),
        _ => "declare it, or take it from props".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_distinct() {
        let globals: Vec<_> = GLOBALS.lines().collect();
        for list in [&globals[..], &REACT, &REACT_DOM, &OF_THE_WINDOW, &VALUES] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        assert!(REFUSED.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn what_is_warned_of_is_known() {
        for (name, _) in REFUSED {
            assert!(is_known(name), "{name}");
        }
        for name in OF_THE_WINDOW {
            assert!(is_known(name), "{name}");
        }
    }

    #[test]
    fn a_bare_name_of_react_is_not_the_windows() {
        for name in REACT.iter().chain(&REACT_DOM) {
            assert!(!is_known(name), "{name}");
        }
        assert_eq!(of_react("useState").as_deref(), Some("React.useState"));
        assert_eq!(
            of_react("createRoot").as_deref(),
            Some("ReactDOM.createRoot")
        );
        assert_eq!(of_react("useNothing"), None);
    }
}
