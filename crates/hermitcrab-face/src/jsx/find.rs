//! The places of code in a reply.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// Whether the fence is not closed.
    pub truncated: bool,
}

/// Tags of a fence with code that can be a face.
const TAGS: [&str; 8] = [
    "",
    "jsx",
    "tsx",
    "js",
    "javascript",
    "ts",
    "typescript",
    "react",
];

/// Words that a line of code begins with, where a reply has no fence.
const OPENERS: [&str; 6] = ["import", "export", "const", "let", "function", "class"];

/// Words and marks that a line of prose does not begin with.
const CODE: [&str; 16] = [
    "import", "export", "const", "let", "var", "function", "class", "return", "async", "if", "for",
    "}", ")", "]", "<", "{",
];

/// The fences of a text that can hold code, in their order.
pub(super) fn fences(text: &str) -> Vec<Region> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let trimmed = line.trim();
        let ticks = trimmed.bytes().take_while(|byte| *byte == b'`').count();
        match open {
            Some((start, wanted, wears)) if ticks >= wanted && ticks == trimmed.len() => {
                if wears {
                    found.push(Region {
                        start,
                        end: at,
                        truncated: false,
                    });
                }
                open = None;
            }
            // Backticks behind the tag make it code inside of a line.
            None if ticks >= 3 && !trimmed[ticks..].contains('`') => {
                open = Some((next, ticks, is_code(&trimmed[ticks..])));
            }
            _ => {}
        }
        at = next;
    }
    if let Some((start, _, true)) = open {
        found.push(Region {
            start,
            end: text.len(),
            truncated: true,
        });
    }
    found
}

fn is_code(tag: &str) -> bool {
    let tag = tag.trim_start();
    let end = tag
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(tag.len());
    let tag = tag[..end].to_ascii_lowercase();
    TAGS.contains(&tag.as_str())
}

/// The possible starts of code in a text without fences, best first: lines that begin like code, else the first declaration of
/// an upper-case name.
pub(super) fn openings(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        if begins_with(line.trim_start(), &OPENERS) {
            found.push(at);
        }
        at += line.len();
    }
    if found.is_empty() {
        found.extend(declaration(text));
    }
    found
}

/// The first `function X`, `class X` or `const X =`.
pub(super) fn declaration(text: &str) -> Option<usize> {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let mut words = text
        .split(|letter| !is_name(letter))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
        .peekable();
    while let Some((at, word)) = words.next() {
        if !matches!(word, "function" | "class" | "const") {
            continue;
        }
        if let Some((next, name)) = words.peek()
            && text[at + word.len()..*next]
                .chars()
                .all(char::is_whitespace)
            && name.starts_with(char::is_uppercase)
        {
            let behind = text[next + name.len()..].trim_start();
            if word != "const" || behind.starts_with(['=', ':']) {
                return Some(at);
            }
        }
    }
    None
}

/// The text declares what can be a component, as far as words tell.
pub(super) fn declares(text: &str) -> bool {
    declaration(text).is_some() || text.contains("export default")
}

/// No line of the text begins or ends like code.
pub(super) fn is_prose(text: &str) -> bool {
    !text.lines().any(|line| {
        begins_with(line.trim_start(), &CODE) || line.trim_end().ends_with([';', '{', '}', '('])
    })
}

/// The text is whole lines of prose.
pub(super) fn is_prose_above(text: &str) -> bool {
    text.ends_with('\n') && is_prose(text)
}

/// The first line has a mark that a sentence such as `let me begin` has not.
pub(super) fn opens_code(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.contains(['=', '(', '{', ';', '<', '"', '\''])
}

/// The text begins like code.
pub(super) fn is_code_like(text: &str) -> bool {
    begins_with(text.trim_start(), &CODE)
}

fn begins_with(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        line.strip_prefix(word).is_some_and(|rest| {
            let is_mark = !word.starts_with(|letter: char| letter.is_ascii_alphabetic());
            is_mark
                || rest.starts_with(|letter: char| {
                    letter.is_whitespace() || matches!(letter, '{' | '[' | '(' | '*')
                })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        let parts = fences(text).into_iter();
        parts.map(|fence| &text[fence.start..fence.end]).collect()
    }

    #[test]
    fn a_fence_closes_at_a_line_of_backticks_alone() {
        assert_eq!(parts("a\n```jsx\nx ```\n``` y\n```\n"), ["x ```\n``` y\n"]);
        assert_eq!(parts("````\n```\n````\n```\nz\n````"), ["```\n", "z\n"]);
        assert_eq!(parts("```css\na\n```\n```tsx {1}\nb\n```"), ["b\n"]);
        assert_eq!(parts("``` a `b`\n"), Vec::<&str>::new());
        assert_eq!(parts("text ```jsx\n"), Vec::<&str>::new());
        assert!(fences("```\na")[0].truncated);
    }

    #[test]
    fn a_declaration_has_an_upper_case_name() {
        for (text, at) in [
            ("so function a() and class Big", Some(20)),
            ("const A = 1", Some(0)),
            ("const A: B = 1", Some(0)),
            ("const A is", None),
            ("functions X", None),
            ("class, X", None),
        ] {
            assert_eq!(declaration(text), at, "{text}");
        }
    }

    #[test]
    fn code_begins_at_a_line_that_begins_like_code() {
        assert_eq!(openings("a\n const b\nlet {c}\n"), [2, 11]);
        assert_eq!(openings("letter\nexports\nso: class A {}"), [19]);
        assert!(openings("words").is_empty());
    }
}
