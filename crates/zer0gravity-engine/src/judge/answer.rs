//! Whether an answer is the expected one.

/// Whether some line of `answer` is `expected`.
///
/// Quotes and back-ticks around a line, a final period, the amount of white space and white space after the first colon
/// do not count; case does. Of an expected text of several lines each must be there; a blank one matches nothing.
///
/// ```
/// use zer0gravity_engine::judge::matches_expected;
/// assert!(matches_expected("The answer:\n`U: essence  reveals`.", "U:essence reveals"));
/// assert!(!matches_expected("u:essence reveals", "U:essence reveals"));
/// ```
pub fn matches_expected(answer: &str, expected: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(plain);
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (answer, expected) = (lines(answer), lines(expected));
    !expected.is_empty() && expected.iter().all(|line| answer.contains(line))
}

fn plain(line: &str) -> String {
    const MARKS: [char; 7] = [
        '"', '\'', '`', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}',
    ];
    let line = line.trim();
    let (line, period) = match line.strip_suffix('.') {
        Some(line) => (line, true),
        None => (line, false),
    };
    let mut line = line.trim_end().trim_matches(MARKS).trim();
    if !period {
        line = line.strip_suffix('.').unwrap_or(line).trim_end();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.split_once(':') {
        Some((before, behind)) => format!("{before}:{}", behind.trim_start()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_around_a_line_do_not_count() {
        for answer in [
            "U:a b",
            " U:  a\tb ",
            "\"U: a b\"",
            "'U:a b.'",
            "`U:a b`.",
            "\u{201c}U:a b\u{201d}",
            "Sure!\r\nU:a b\r\nBye",
        ] {
            assert!(matches_expected(answer, "U:a b"), "{answer}");
        }
        for answer in [
            "", "u:a b", "U:a b c", "X U:a b", "U:a", "U :a b", "U:ab", "U:a b?",
        ] {
            assert!(!matches_expected(answer, "U:a b"), "{answer}");
        }
    }

    #[test]
    fn only_the_first_colon_is_loose() {
        assert!(!matches_expected("a: b: c", "a:b:c"));
        assert!(matches_expected("a: b: c", "a:b: c"));
        assert!(!matches_expected("a b: c", "ab:c"));
    }

    #[test]
    fn several_lines_are_all_wanted_and_nothing_matches_nothing() {
        assert!(matches_expected("b\na", "a\n\nb"));
        assert!(!matches_expected("a", "a\nb"));
        assert!(!matches_expected("", "") && !matches_expected("a", " \n'.'"));
    }
}
