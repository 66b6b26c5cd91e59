//! The written syntax of rules: lines that a program can follow.

use crate::DEFAULT_RULES;
use crate::text::hash::sha256_hex;
use crate::text::js_trim;
use crate::text::words::is_apostrophe;

/// The longest source or target of a mapping in characters: a longer piece is a text and not a word.
const LONGEST_MAPPED: usize = 64;

const ARROWS: [&str; 7] = ["->", "=>", "→", "⇒", "↦", "⟶", "="];

/// The lines of the default rules in the written syntax. The mappings of the second line are read from the line itself.
const DEFAULT_CLAUSES: [&str; 4] = [
    "DROP VOWELS LONGER THAN 3",
    "",
    "KEEP NUMBERS, NAMES, PUNCTUATION",
    "COLLAPSE SPACE",
];

/// A step that a program can take without asking for a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clause {
    /// Replaces one piece by another.
    Map(Mapping),
    /// Removes a, e, i, o and u from words of more letters than this.
    DropVowels { longer_than: usize },
    /// Removes these lower-case words.
    DropWords(Vec<String>),
    /// Makes one space of a run of white space, and removes it at the ends.
    CollapseSpace,
    /// Keeps text that no other clause changes and, if `names`, proper nouns.
    Keep { names: bool },
}

/// A piece of text and the piece that replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Mapping {
    pub source: String,
    pub target: String,
}

/// A line of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule<'a> {
    /// The line of the rules, from 1.
    pub line: usize,
    /// The line without its name and outer white space.
    pub body: &'a str,
    /// The clauses; of a line that only a model can follow, the quoted mappings in it.
    pub clauses: Vec<Clause>,
    /// The part that only a model can follow.
    pub unread: Option<&'a str>,
}

impl Rule<'_> {
    /// Whether a program can follow all of it.
    pub fn is_mechanical(&self) -> bool {
        self.unread.is_none() && !self.clauses.is_empty()
    }

    pub fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.clauses.iter().filter_map(|clause| match clause {
            Clause::Map(mapping) => Some(mapping),
            _ => None,
        })
    }
}

/// Whether these are the default rules, which have a codec though they are not written in the syntax.
pub(crate) fn is_default(rules: &str) -> bool {
    let plain = js_trim(rules).replace("\r\n", "\n");
    plain.len() == DEFAULT_RULES.len()
        && sha256_hex(plain.as_bytes()) == sha256_hex(DEFAULT_RULES.as_bytes())
}

/// The rules of `text`: a rule a line, without blank lines and comments.
pub(crate) fn rules(text: &str) -> Vec<Rule<'_>> {
    if is_default(text) {
        return default_rules();
    }
    let lines = (1..).zip(text.lines().map(str::trim));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let body = without_name(line);
            let read = clauses(body);
            let unread = read.is_none().then_some(body).filter(|it| !it.is_empty());
            Rule {
                line: number,
                body,
                clauses: read.unwrap_or_else(|| quoted_mappings(body)),
                unread,
            }
        })
        .collect()
}

fn default_rules() -> Vec<Rule<'static>> {
    let lines = (1..).zip(DEFAULT_RULES.lines().zip(DEFAULT_CLAUSES));
    let rule = |(line, (text, written)): (usize, (&'static str, &str))| {
        let body = without_name(text);
        let (_, last) = body.split_once(". ").unwrap_or_default();
        Rule {
            line,
            body,
            clauses: clauses(written).unwrap_or_else(|| quoted_mappings(body)),
            unread: Some(last.trim_end_matches('.')).filter(|it| !it.is_empty()),
        }
    };
    lines.map(rule).collect()
}

/// A line without a name such as `VOWEL_DROP:` before it.
fn without_name(line: &str) -> &str {
    let is_name = |name: &str| {
        let part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
        name.chars().all(part)
            && name.contains(char::is_uppercase)
            && !name.contains(char::is_lowercase)
    };
    match line.split_once(':') {
        Some((name, body)) if is_name(name) => body.trim(),
        _ => line,
    }
}

fn clauses(body: &str) -> Option<Vec<Clause>> {
    let (first, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let rest = rest.trim();
    let space = || rest.eq_ignore_ascii_case("space");
    let read = match first.to_uppercase().as_str() {
        "MAP" => mappings(rest),
        "DROP" => drop(rest).map(|clause| vec![clause]),
        "COLLAPSE" => space().then(|| vec![Clause::CollapseSpace]),
        "KEEP" => keep(rest).map(|clause| vec![clause]),
        _ => None,
    };
    read.or_else(|| mappings(body))
}

fn drop(rest: &str) -> Option<Clause> {
    let (what, list) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if what.eq_ignore_ascii_case("words") {
        let word = |word: &str| {
            let word = word.trim();
            let letters = word.contains(char::is_alphabetic)
                && word
                    .chars()
                    .all(|char| char.is_alphabetic() || is_apostrophe(char));
            letters.then(|| word.to_lowercase())
        };
        return Some(Clause::DropWords(
            list.split(',').map(word).collect::<Option<_>>()?,
        ));
    }
    if !what.eq_ignore_ascii_case("vowels") {
        return None;
    }
    let limit: Vec<_> = list.split_whitespace().collect();
    let longer_than = match limit.as_slice() {
        [] => 0,
        [longer, than, number]
            if longer.eq_ignore_ascii_case("longer") && than.eq_ignore_ascii_case("than") =>
        {
            number.parse().ok()?
        }
        _ => return None,
    };
    Some(Clause::DropVowels { longer_than })
}

fn keep(rest: &str) -> Option<Clause> {
    let mut names = false;
    for kept in rest.split(',') {
        match kept.trim().to_uppercase().as_str() {
            "NAMES" => names = true,
            "NUMBERS" | "PUNCTUATION" => {}
            _ => return None,
        }
    }
    Some(Clause::Keep { names })
}

/// Reads mappings with commas between them, and nothing else.
fn mappings(text: &str) -> Option<Vec<Clause>> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let (mapping, behind) = mapping(rest)?;
        all.push(mapped(mapping));
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Some(all);
        }
        rest = behind.strip_prefix(',')?;
    }
}

/// The mappings between quotes in a line, whatever else it says.
fn quoted_mappings(line: &str) -> Vec<Clause> {
    let mut all = Vec::new();
    let mut end = 0;
    for (start, _) in quoted_pieces(line) {
        if start >= end
            && let Some((mapping, rest)) = mapping(&line[start..])
        {
            all.push(mapped(mapping));
            end = line.len() - rest.len();
        }
    }
    all
}

/// A mapping to nothing removes the word, with the space after it.
fn mapped(mapping: Mapping) -> Clause {
    if mapping.target.is_empty() && mapping.source.chars().all(char::is_alphabetic) {
        Clause::DropWords(vec![mapping.source.to_lowercase()])
    } else {
        Clause::Map(mapping)
    }
}

/// The mapping that `text` begins with, and the rest.
fn mapping(text: &str) -> Option<(Mapping, &str)> {
    let (source, rest) = piece(text, &ARROWS)?;
    let rest = rest.trim_start();
    let rest = ARROWS.iter().find_map(|arrow| rest.strip_prefix(arrow))?;
    let (target, rest) = piece(rest, &[])?;
    let mapping = Mapping {
        source: source.to_owned(),
        target: target.to_owned(),
    };
    (!source.trim().is_empty()).then_some((mapping, rest))
}

/// The quoted piece or the single word that `text` begins with, and the rest. A word ends at a comma or one of `ends`.
fn piece<'a>(text: &'a str, ends: &[&str]) -> Option<(&'a str, &'a str)> {
    let text = text.trim_start();
    if let Some(length) = quoted_length(text) {
        return Some((unquoted(&text[..length]), &text[length..]));
    }
    let is_end = |at: usize| {
        let rest = &text[at..];
        rest.is_empty()
            || rest.starts_with(|char: char| char.is_whitespace() || char == ',')
            || ends.iter().any(|end| rest.starts_with(end))
    };
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let end = places.take(LONGEST_MAPPED + 1).find(|at| is_end(*at))?;
    (end > 0).then(|| text.split_at(end))
}

/// The quoted pieces of a line as their first and last byte, marks included.
pub(crate) fn quoted_pieces(line: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut in_word = false;
    let mut end = 0;
    for (at, char) in line.char_indices() {
        if at >= end
            && !in_word
            && let Some(length) = quoted_length(&line[at..])
        {
            end = at + length;
            pieces.push((at, end));
        }
        in_word = char.is_alphanumeric();
    }
    pieces
}

/// The bytes of the quoted piece that `text` begins with. A mark before a letter or digit does not close it.
fn quoted_length(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let close = match open {
        '\'' | '"' | '`' => open,
        '\u{2018}' => '\u{2019}',
        '\u{201c}' => '\u{201d}',
        _ => return None,
    };
    // A limit, so that a text of open quotes is read in one go.
    let mut inside = text.char_indices().skip(1).take(LONGEST_MAPPED + 1);
    inside.find_map(|(at, char)| {
        let end = at + char.len_utf8();
        (char == close && !text[end..].starts_with(char::is_alphanumeric)).then_some(end)
    })
}

/// A quoted piece without its marks.
fn unquoted(piece: &str) -> &str {
    let mut chars = piece.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drop_vowels(longer_than: usize) -> Vec<Clause> {
        vec![Clause::DropVowels { longer_than }]
    }

    fn drop_words(words: &[&str]) -> Vec<Clause> {
        let words = words.iter().map(ToString::to_string).collect();
        vec![Clause::DropWords(words)]
    }

    fn map(mappings: &[(&str, &str)]) -> Vec<Clause> {
        let mapping = |(source, target): &(&str, &str)| {
            Clause::Map(Mapping {
                source: (*source).to_owned(),
                target: (*target).to_owned(),
            })
        };
        mappings.iter().map(mapping).collect()
    }

    #[test]
    fn the_default_rules_are_read() {
        let rules = rules(DEFAULT_RULES);
        assert_eq!(rules.len(), 4);
        assert_eq!(rules[0].clauses, drop_vowels(3));
        assert_eq!(rules[1].mappings().count(), 11);
        assert_eq!(rules[2].clauses, [Clause::Keep { names: true }]);
        assert_eq!(rules[3].clauses, [Clause::CollapseSpace]);
        let unread = Some("Use '|' as word separator where ambiguous");
        assert_eq!(rules[3].unread, unread);
        assert!(rules[..3].iter().all(Rule::is_mechanical));
    }

    #[test]
    fn each_rule_of_the_syntax_is_read() {
        for (line, clauses) in [
            ("MAP 'you' -> 'u'", map(&[("you", "u")])),
            ("'you'→'u'", map(&[("you", "u")])),
            ("you = u", map(&[("you", "u")])),
            ("you=u, with => w/", map(&[("you", "u"), ("with", "w/")])),
            ("map -> mp", map(&[("map", "mp")])),
            (
                "\"don't\" → \u{201c}dn't\u{201d}",
                map(&[("don't", "dn't")]),
            ),
            ("'for example' -> eg", map(&[("for example", "eg")])),
            ("'!' -> ''", map(&[("!", "")])),
            ("SUBS: 'is'→'='", map(&[("is", "=")])),
            ("is -> =", map(&[("is", "=")])),
            ("'The'→''", drop_words(&["the"])),
            ("DROP VOWELS", drop_vowels(0)),
            ("VOWEL_DROP: drop vowels longer than 3", drop_vowels(3)),
            ("DROP WORDS the, A, it's", drop_words(&["the", "a", "it's"])),
            ("COLLAPSE SPACE", vec![Clause::CollapseSpace]),
            ("KEEP NUMBERS", vec![Clause::Keep { names: false }]),
            (
                "Keep numbers, names, punctuation",
                vec![Clause::Keep { names: true }],
            ),
        ] {
            let read = rules(line);
            assert!(read[0].is_mechanical(), "{line}");
            assert_eq!(read[0].clauses, clauses, "{line}");
        }
    }

    #[test]
    fn other_lines_need_a_model() {
        for line in [
            "Drop vowels except the first letter",
            "DROP VOWELS LONGER THAN many",
            "DROP VOWELS LONGER THAN 99999999999999999999",
            "Do not drop vowels",
            "DROP WORDS",
            "DROP WORDS: the",
            "MAP 'you'",
            "'you'→'u'.",
            "' ' -> _",
            "Keep it = short",
            "KEEP everything",
            "COLLAPSE",
            "Be brief.",
        ] {
            let read = rules(line);
            assert_eq!(read[0].unread, Some(line));
            assert!(!read[0].is_mechanical(), "{line}");
        }
        let long = format!("'{}'→'x'", "a".repeat(LONGEST_MAPPED + 1));
        assert!(!rules(&long)[0].is_mechanical());
        let prose = rules("Write 'with' as: 'with'→'w/' (never 'without'→'w/o').");
        assert_eq!(prose[0].clauses, map(&[("with", "w/"), ("without", "w/o")]));
        assert!(!prose[0].is_mechanical());
    }

    #[test]
    fn names_blank_lines_and_comments_are_not_rules() {
        let read = rules("# my rules\n\nA:\n  COLLAPSE SPACE  \n");
        let lines: Vec<_> = read.iter().map(|rule| (rule.line, rule.body)).collect();
        assert_eq!(lines, [(3, ""), (4, "COLLAPSE SPACE")]);
        assert!(read[0].unread.is_none() && !read[0].is_mechanical());
    }

    #[test]
    fn long_lines_take_no_long_time() {
        for piece in ["'", "'a", "a->", "'a'→", "\u{2018}", "="] {
            rules(&piece.repeat(20_000));
        }
    }
}
