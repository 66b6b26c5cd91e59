use std::collections::BTreeMap;

use crate::export::{IDENTITY, number};

/// The longest name in bytes.
const LONGEST: usize = 60;

/// The name of the instance, and the file that has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity<'a> {
    pub name: String,
    pub path: &'a str,
    /// The lines about the name.
    pub lines: &'a str,
}

/// A `Name:` line first, in `identity.md` or another free file that is called so; else what such a file says of itself.
pub(crate) fn find(files: &BTreeMap<String, String>) -> Option<Identity<'_>> {
    let about = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        number(path).is_none() && (file.contains("identity") || file.contains("naming"))
    };
    let first = files.get_key_value(IDENTITY);
    let others = files
        .iter()
        .filter(|(path, _)| *path != IDENTITY && about(path));
    let files: Vec<_> = first.into_iter().chain(others).collect();
    let search = |find: fn(&str) -> Option<(String, &str)>| {
        files.iter().find_map(|(path, text)| {
            let (name, lines) = find(text)?;
            Some(Identity { name, path, lines })
        })
    };
    search(name_line).or_else(|| search(said_of_itself))
}

/// `Name: Kelp`, with the lines of the same form around it.
fn name_line(text: &str) -> Option<(String, &str)> {
    let is_field = |line: &&str| {
        let field = line.split_once(':');
        field.is_some_and(|(key, _)| !key.trim().is_empty() && key.len() <= LONGEST)
    };
    let mut at = 0;
    let mut start = None;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        if is_field(&line) {
            let start = *start.get_or_insert(at);
            found = found.or_else(|| Some((field_name(line)?, start)));
        } else if found.is_some() {
            break;
        } else {
            start = None;
        }
        at += line.len();
    }
    let (name, start) = found?;
    Some((name, text[start..at].trim()))
}

/// The name, if the line is `Name: Kelp`, as Markdown or not.
fn field_name(line: &str) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let marks =
        |letter: char| letter.is_whitespace() || matches!(letter, '*' | '_' | '#' | '>' | '-');
    let is_name = key.trim_matches(marks).eq_ignore_ascii_case("name");
    is_name.then(|| plain(value)).flatten()
}

/// `I am Kelp`, or a heading that is a name.
fn said_of_itself(text: &str) -> Option<(String, &str)> {
    text.lines().find_map(|line| {
        let line = line.trim();
        let heading = line.strip_prefix("# ").and_then(plain).filter(|heading| {
            let heading = heading.to_lowercase();
            !["identity", "naming", "name"]
                .iter()
                .any(|word| heading.contains(word))
        });
        let said = line.split_once("I am ").and_then(|(_, said)| {
            let name = said
                .split(|letter: char| !(letter.is_alphanumeric() || letter == '-'))
                .next()?;
            name.starts_with(char::is_uppercase).then(|| plain(name))?
        });
        Some((said.or(heading)?, line))
    })
}

fn plain(name: &str) -> Option<String> {
    let name = name
        .trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '*' | '_' | '"'));
    (!name.is_empty() && name.len() <= LONGEST).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::find;

    /// Name, file and lines, or nothing.
    fn found(files: &[(&str, &str)]) -> String {
        let files: BTreeMap<_, _> = files
            .iter()
            .map(|(name, text)| (format!("/memories/{name}"), (*text).to_owned()))
            .collect();
        let found = find(&files);
        found.map_or(String::new(), |found| {
            format!("{} | {} | {}", found.name, &found.path[10..], found.lines)
        })
    }

    #[test]
    fn names() {
        assert_eq!(
            found(&[(
                "identity.md",
                "# Me\nA long story.\n- Name: **Kelp**\nSince: May\n\nMore: later"
            )]),
            "Kelp | identity.md | - Name: **Kelp**\nSince: May"
        );
        // A line that says so comes before what a file seems to say.
        assert_eq!(
            found(&[
                ("identity.md", "I am Wren."),
                ("old/Naming.txt", "name: Kelp")
            ]),
            "Kelp | old/Naming.txt | name: Kelp"
        );
        assert_eq!(
            found(&[("identity.md", "Well, I am Wren, I think.")]),
            "Wren | identity.md | Well, I am Wren, I think."
        );
        assert_eq!(
            found(&[("my-identity", "# Tide Pool\nrest")]),
            "Tide Pool | my-identity | # Tide Pool"
        );
        assert_eq!(
            found(&[("identity.md", "# Identity\nI am a program.\nName:")]),
            ""
        );
        assert_eq!(
            found(&[("notes.md", "Name: Kelp"), ("M-1.identity", "Name: Kelp")]),
            ""
        );
    }
}
