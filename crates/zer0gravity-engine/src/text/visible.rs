//! Texts as a reader sees them: what is not shown is dropped, and what looks like a Latin letter is one.

use unicode_normalization::UnicodeNormalization as _;
use visible_text::is_ignorable;

/// Letters of other scripts that look like Latin ones, and the Latin ones.
const LOOK_ALIKES: [(&str, &str); 4] = [
    ("авеѕіјкмнорстухһԁԛԝѵꙅ", "abesijkmhopctyxhdqwvs"),
    ("АВЕЅІЈКМНОРСТУХԌԚԜ", "abesijkmhopctyxgqw"),
    (
        "αβεηικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "abenikvoptuxywabezhikmnoptyx",
    ),
    (
        "ɑɡıȷᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢօ",
        "agijabcdefghijklmnoprstuvwyzo",
    ),
];

/// A line as a reader takes it, in lower case: JSON escapes are resolved, compatible characters are one (NFKC), what is not shown is
/// dropped, look-alikes are Latin letters, and letters that stand apart are joined.
pub(crate) fn visible(line: &str) -> String {
    let shown = unescaped(line);
    let shown = shown.nfkc().filter(|char| !is_ignorable(*char));
    let shown: String = shown.map(latin).collect();
    joined(&shown.to_lowercase())
}

fn latin(char: char) -> char {
    if char.is_ascii() {
        return char;
    }
    let found = LOOK_ALIKES.iter().find_map(|(like, letters)| {
        let at = like.chars().position(|other| other == char)?;
        letters.chars().nth(at)
    });
    found.unwrap_or(char)
}

/// A line without the escapes of JSON strings.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (char, length) = match behind.chars().next() {
            Some('u') => {
                let unit = behind
                    .get(1..5)
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok());
                unit.and_then(char::from_u32)
                    .map_or(('\\', 0), |char| (char, 5))
            }
            Some('n' | 't' | 'r') => (' ', 1),
            Some(char @ ('"' | '\'' | '/')) => (char, 1),
            _ => ('\\', 0),
        };
        text.push(char);
        rest = &behind[length..];
    }
    text + rest
}

/// A line whose runs of three and more single letters, each one character apart, are words.
fn joined(line: &str) -> String {
    const LEAST: usize = 3;
    let chars: Vec<char> = line.chars().collect();
    let letter = |at: usize| chars.get(at).is_some_and(|char| char.is_alphanumeric());
    let single = |at: usize| letter(at) && !letter(at + 1) && (at == 0 || !letter(at - 1));
    let (mut text, mut at) = (String::with_capacity(line.len()), 0);
    while at < chars.len() {
        let run = (0..chars.len())
            .take_while(|step| single(at + 2 * step))
            .count();
        if run >= LEAST {
            text.extend((0..run).map(|step| chars[at + 2 * step]));
            at += 2 * run - 1;
        } else {
            text.push(chars[at]);
            at += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees() {
        for (line, seen) in [
            ("Score 40", "score 40"),
            ("ｓｃｏｒｅ ４０", "score 40"),
            ("sc\u{43e}re", "score"),
            ("s\u{200b}c\u{fe0f}ore", "score"),
            (r#"{\"sc\u006fre\": 40}"#, r#"{"score": 40}"#),
            ("s c o r e  f.o.r.t.y", "score  forty"),
            ("a b", "a b"),
            (r"C:\users \", r"c:\users \"),
            ("𝐬𝐜𝐨𝐫𝐞", "score"),
        ] {
            assert_eq!(visible(line), seen, "{line}");
        }
    }

    #[test]
    fn every_look_alike_has_its_letter() {
        for (like, letters) in LOOK_ALIKES {
            assert_eq!(like.chars().count(), letters.chars().count(), "{like}");
        }
    }
}
