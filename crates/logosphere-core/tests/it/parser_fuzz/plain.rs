//! A second reader of answers, slow and plain.

use std::ops::Range;
use std::sync::LazyLock;

use logosphere_core::format::{End, Note, ParseMode, Parsed, Reason, parse};
use logosphere_core::import::parse_reference;
use regex::Regex;

use super::{is_blank, is_blank_char};

/// A parsed answer in the form of the vectors.
#[derive(Debug, PartialEq)]
pub struct Plain {
    thinking: String,
    messages: Vec<String>,
    signature: String,
    end: End,
    reason: Reason,
    notes: Vec<Note>,
    lost: (u64, u64),
}

/// Characters that show nothing of themselves, by the categories of Unicode.
static HIDDEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]").unwrap());

impl Plain {
    pub fn of(parsed: Parsed) -> Self {
        Self {
            thinking: parsed.thinking,
            messages: parsed.messages,
            signature: parsed.signature,
            end: parsed.end,
            reason: parsed.reason,
            notes: parsed.notes,
            lost: (parsed.lost_blocks, parsed.lost_chars),
        }
    }
}

/// The parts of an answer as whole lines.
struct Lines<'a> {
    /// The lines up to the end, delimiters included.
    until_end: Vec<&'a str>,
    behind_end: Vec<&'a str>,
    /// The blocks between delimiters, the thinking first; each with the line end before the next delimiter.
    blocks: Vec<String>,
    end: End,
    mode: ReadRules,
}

/// The rules that an answer is read by: a mode, or those of the Python program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadRules {
    Lenient,
    Strict,
    Reference,
}

impl ReadRules {
    pub fn read(self, raw: &str) -> Parsed {
        match self {
            Self::Lenient => parse(raw, ParseMode::Lenient),
            Self::Strict => parse(raw, ParseMode::Strict),
            Self::Reference => parse_reference(raw),
        }
    }
}

/// The rules read aloud: every line once, blocks as strings.
pub fn plain(raw: &str, mode: ReadRules) -> Plain {
    if mode == ReadRules::Reference {
        return plain_reference(raw);
    }
    let mut lines = Lines {
        until_end: Vec::new(),
        behind_end: Vec::new(),
        blocks: vec![String::new()],
        end: End::None,
        mode,
    };
    for line in raw.split_inclusive('\n') {
        lines.push(line);
    }
    let blank_rest = lines.blocks.len() > 1 && is_blank(lines.blocks.last().unwrap());
    if lines.end == End::None && mode == ReadRules::Lenient && blank_rest {
        lines.end = End::Lenient;
        let last = (lines.until_end.iter()).rposition(|line| delimits(line, mode));
        lines.behind_end = lines.until_end.split_off(last.unwrap() + 1);
    }
    if lines.end == End::None {
        lines.lost(raw)
    } else {
        lines.ended()
    }
}

/// Whether a line, with its line feed if it has one, is a delimiter.
pub fn delimits(line: &str, mode: ReadRules) -> bool {
    match mode {
        ReadRules::Lenient => line.trim_end_matches([' ', '\t', '\r', '\n']) == "---",
        ReadRules::Strict => ["---", "---\n", "---\r\n"].contains(&line),
        ReadRules::Reference => false,
    }
}

impl<'a> Lines<'a> {
    fn push(&mut self, line: &'a str) {
        if self.end != End::None {
            self.behind_end.push(line);
            return;
        }
        let before = self.until_end.last().copied();
        self.until_end.push(line);
        let block = self.blocks.last_mut().unwrap();
        if !delimits(line, self.mode) {
            block.push_str(line);
        } else if self.blocks.len() > 1 && is_blank(self.blocks.last().unwrap()) {
            let adjacent = delimits(before.unwrap(), self.mode);
            self.end = if adjacent {
                End::Adjacent
            } else {
                End::BlankBlock
            };
        } else {
            self.blocks.push(String::new());
        }
    }

    fn lost(self, raw: &str) -> Plain {
        let delimited = self.blocks.len() > 1;
        let texts: Vec<_> = self
            .blocks
            .iter()
            .map(|block| without_line_end(block))
            .collect();
        let candidates = if delimited { &texts[1..] } else { &[raw] };
        let lost: Vec<_> = candidates.iter().filter(|text| !is_blank(text)).collect();
        let chars = lost.iter().map(|text| text.chars().count() as u64);
        Plain {
            thinking: if delimited { texts[0] } else { raw }.to_owned(),
            messages: Vec::new(),
            signature: String::new(),
            end: End::None,
            reason: match (is_blank(raw), delimited) {
                (true, _) => Reason::EmptyOutput,
                (_, false) => Reason::NoDelimiter,
                _ => Reason::Unterminated,
            },
            notes: self.notes(),
            lost: (lost.len() as u64, chars.sum()),
        }
    }

    fn ended(self) -> Plain {
        let mut texts: Vec<_> = self
            .blocks
            .iter()
            .map(|block| without_line_end(block))
            .collect();
        texts.pop();
        let thinking = texts.remove(0).to_owned();
        let mode = self.mode;
        let mut behind = (self.behind_end.split(|line| delimits(line, mode))).map(<[_]>::concat);
        let first = behind.next().unwrap();
        let mut signature = first.trim_matches(is_blank_char);
        let signed = mode == ReadRules::Lenient
            && signature.starts_with('~')
            && (2..=32).contains(&signature.chars().count())
            && !HIDDEN.is_match(signature);
        if !signed {
            signature = "";
        }

        let mut notes = self.notes();
        let mut note = |note, found| {
            if found && mode == ReadRules::Lenient {
                notes.push(note);
            }
        };
        let last_line =
            |text: &str| text.rsplit('\n').next().unwrap().trim_end_matches('\r') == "~init";
        note(
            Note::ImitatesSeedStamp,
            !signed && texts.iter().any(|text| last_line(text)),
        );
        note(Note::ImpersonatesInit, signature == "~init");
        note(
            Note::InvisibleMessage,
            texts.iter().any(|text| !text.chars().any(is_visible)),
        );
        note(Note::LenientEnd, self.end == End::Lenient);
        let tagged = |text: &&str| text.contains("<think>") || text.contains("</think>");
        note(Note::ReasoningTag, texts.iter().any(tagged));
        note(
            Note::TextAfterEnd,
            !signed && !is_blank(&first) || behind.any(|block| !is_blank(&block)),
        );
        notes.sort_unstable();

        let stamp = if signed {
            format!("\n\n{signature}")
        } else {
            String::new()
        };
        Plain {
            thinking,
            reason: if texts.is_empty() {
                Reason::Silence
            } else {
                Reason::Ok
            },
            messages: texts.iter().map(|text| format!("{text}{stamp}")).collect(),
            signature: signature.to_owned(),
            end: self.end,
            notes,
            lost: (0, 0),
        }
    }

    /// The notes about the lines up to the end.
    fn notes(&self) -> Vec<Note> {
        let (delimiters, lines): (Vec<_>, Vec<_>) = self
            .until_end
            .iter()
            .partition(|line| delimits(line, self.mode));
        let is_near = |line: &&str| {
            line.split(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
                .any(is_rule)
        };
        let mut notes = Vec::new();
        if self.mode == ReadRules::Lenient {
            if lines.iter().any(is_near) {
                notes.push(Note::NearDelimiter);
            }
            if delimiters
                .iter()
                .any(|line| line.trim_end_matches('\n') != "---")
            {
                notes.push(Note::ToleratedDelimiter);
            }
        }
        notes
    }
}

fn without_line_end(text: &str) -> &str {
    let Some(text) = text.strip_suffix('\n') else {
        return text;
    };
    text.strip_suffix('\r').unwrap_or(text)
}

fn is_rule(piece: &str) -> bool {
    let piece = piece.trim_matches(|char| is_blank_char(char) || char == '\u{feff}');
    let only = |chars: &str, least| {
        piece.chars().count() >= least && piece.chars().all(|char| chars.contains(char))
    };
    only("-", 2) || only("*", 3) || only("_", 3) || only("\u{2013}\u{2014}\u{2015}\u{2500}", 1)
}

fn is_visible(char: char) -> bool {
    const UNSEEN: [Range<u32>; 8] = [
        0xad..0xae,
        0x180e..0x180f,
        0x200b..0x2010,
        0x202a..0x202f,
        0x2060..0x2065,
        0x2066..0x206a,
        0xfeff..0xff00,
        0..0x20,
    ];
    !is_blank_char(char)
        && !char.is_control()
        && !UNSEEN.iter().any(|unseen| unseen.contains(&(char as u32)))
}

fn plain_reference(raw: &str) -> Plain {
    let mut text = raw.to_owned();
    if !text.ends_with('\n') {
        text += "\n";
    }
    if text.starts_with("---\n") {
        text = "\n".to_owned() + &text;
    }
    let blocks: Vec<&str> = text.split("\n---\n").collect();
    let blank = blocks[1..].iter().position(|block| is_blank(block));
    let mut found = Plain {
        thinking: blocks[0].trim_start_matches('\n').to_owned(),
        messages: Vec::new(),
        signature: String::new(),
        end: End::None,
        reason: Reason::Unterminated,
        notes: Vec::new(),
        lost: (0, 0),
    };
    if let Some(blank) = blank {
        found.end = End::Lenient;
        if let Some(next) = blocks.get(blank + 2) {
            found.end = End::BlankBlock;
            let signature: String = next.trim_matches(is_blank_char).chars().take(32).collect();
            if signature != "---" {
                found.signature = signature;
            }
        }
        for message in &blocks[1..=blank] {
            let mut message = (*message).to_owned();
            if !found.signature.is_empty() {
                message = message + "\n\n" + &found.signature;
            }
            found.messages.push(message);
        }
        found.reason = if blank == 0 {
            Reason::Silence
        } else {
            Reason::Ok
        };
    } else if is_blank(raw) {
        found.reason = Reason::EmptyOutput;
    } else if blocks.len() == 1 {
        found.reason = Reason::NoDelimiter;
        found.lost = (1, raw.chars().count() as u64);
    } else {
        found.lost.0 = blocks.len() as u64 - 1;
        let mut chars: usize = blocks[1..].iter().map(|block| block.chars().count()).sum();
        // The line feed that the answer itself does not have.
        chars -= usize::from(!raw.ends_with('\n') && !blocks.last().unwrap().is_empty());
        found.lost.1 = chars as u64;
    }
    found
}
