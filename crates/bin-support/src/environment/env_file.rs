use std::collections::BTreeMap;

use secrecy::SecretString;

/// The variables of a `.env` file, by the syntax that every such file of these programs has.
///
/// A line is `NAME=value`, with or without `export ` before it, empty, or a comment that begins with `#`. A value is read
/// literally, also between single quotes; between double quotes `\n`, `\t`, `\"` and `\\` are escapes. A `$` is never
/// expanded and no value has more than one line. A byte order mark and CRLF are accepted.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct EnvFile {
    /// Values by name; of several lines with one name the first counts.
    pub variables: BTreeMap<String, SecretString>,
    /// Numbers of the lines, from 1, that are not `NAME=value`.
    pub bad_lines: Vec<usize>,
}

impl EnvFile {
    /// Reads the text of a file; a line that is not `NAME=value` does not end the reading.
    pub fn parse(text: &str) -> Self {
        let mut file = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match assignment(line) {
                Some((name, value)) => {
                    file.variables
                        .entry(name.to_owned())
                        .or_insert_with(|| value.into());
                }
                None => file.bad_lines.push(number),
            }
        }
        file
    }
}

fn assignment(line: &str) -> Option<(&str, String)> {
    let (name, value) = line.split_once('=')?;
    let name = match name.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => name,
    };
    let name = name.trim_end();
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(())?;
    Some((name, unquoted(value.trim_start())?))
}

/// The value without its quotes; `None` if they do not end where it does.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        let inside = rest.strip_suffix('\'')?;
        return (!inside.contains('\'')).then(|| inside.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        return Some(value.to_owned());
    };
    let mut text = String::new();
    let mut chars = rest.chars();
    loop {
        text.push(match chars.next()? {
            '"' => return chars.as_str().is_empty().then_some(text),
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                same @ ('"' | '\\') => same,
                _ => return None,
            },
            other => other,
        });
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn read(text: &str) -> (Vec<(String, String)>, Vec<usize>) {
        let file = EnvFile::parse(text);
        let values = file.variables.into_iter();
        let values = values.map(|(name, value)| (name, value.expose_secret().to_owned()));
        (values.collect(), file.bad_lines)
    }

    fn value(line: &str) -> Option<String> {
        read(line).0.pop().map(|(_, value)| value)
    }

    #[test]
    fn each_form_of_a_value() {
        for (line, expected) in [
            ("A=plain", "plain"),
            ("  A = plain  ", "plain"),
            ("export A=plain", "plain"),
            ("export\tA=plain", "plain"),
            ("A=", ""),
            ("A=''", ""),
            ("A=a=b#c", "a=b#c"),
            ("A=$HOME and ${B}", "$HOME and ${B}"),
            (r#"A='a\n"$B'"#, r#"a\n"$B"#),
            (r#"A="a\n\t\"\\'$B""#, "a\n\t\"\\'$B"),
            ("\u{feff}A=1", "1"),
            ("A=1\r\n", "1"),
        ] {
            assert_eq!(value(line).as_deref(), Some(expected), "{line:?}");
        }
    }

    #[test]
    fn a_line_that_is_no_assignment_is_counted_and_the_rest_is_read() {
        let text = "# a comment\n\nA=1\nsk-secret and more\n=x\n2A=1\nA B=1\nB='x\nC='x' y\nD=\"x\nE=\"\\x\"\nF='a'b'\nA=2\nG=7\n";
        let (values, bad) = read(text);
        let is = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(values, [is("A", "1"), is("G", "7")]);
        assert_eq!(bad, [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }
}
