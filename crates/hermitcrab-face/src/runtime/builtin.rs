//! The built-in runtime: its parts in one function, so that a shell sees nothing but the two globals.

pub(super) const NAME: &str = "built-in subset";

const HEAD: &str = include_str!("builtin/head.js");

pub(super) const SCRIPT: &str = concat!(
    include_str!("builtin/head.js"),
    "(function (global) {\n'use strict';\n",
    include_str!("builtin/elements.js"),
    include_str!("builtin/parts.js"),
    include_str!("builtin/hooks.js"),
    include_str!("builtin/classes.js"),
    include_str!("builtin/dom.js"),
    include_str!("builtin/fields.js"),
    include_str!("builtin/events.js"),
    include_str!("builtin/root.js"),
    "})(globalThis);\n",
);

/// The head of the script lists them, for readers of the script and of the manual.
pub(super) fn gaps() -> impl Iterator<Item = &'static str> {
    HEAD.lines()
        .filter_map(|line| line.strip_prefix("// gap: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_code_and_only_the_shell_writes_markup() {
        for word in [
            "eval(",
            "new Function",
            "document.write",
            "insertAdjacentHTML",
            "outerHTML",
        ] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        // The one place is dangerouslySetInnerHTML.
        assert_eq!(SCRIPT.matches(".innerHTML =").count(), 1);
    }

    #[test]
    fn the_gaps_are_listed() {
        assert!(gaps().count() >= 5);
        assert!(gaps().all(|gap| !gap.is_empty() && !gap.ends_with('.')));
    }

    #[test]
    fn it_stays_small() {
        // Three lines around the files are not of them. The goal is 450.
        let lines = SCRIPT.lines().count() - 3;
        assert!(lines <= 689, "{lines} lines");
    }
}
