use std::ops::Range;

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff as Differ};

use crate::document::anchor::Anchors;
use crate::document::number::counted;
use crate::document::text;

/// The maximum number of tokens of both texts that are compared: the work can grow with its square.
const COMPARED: usize = 8_000;
/// The number of unchanged lines shown before and after a change.
const AROUND: usize = 3;

/// Two texts and their differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDiff {
    title: String,
    old: String,
    new: String,
    old_name: String,
    new_name: String,
    by: By,
    marks: Option<Marks>,
}

/// The passages of the two texts that are underlined, and their name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marks {
    name: String,
    old: Vec<Range<usize>>,
    new: Vec<Range<usize>>,
}

/// The unit of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Words,
    Lines,
}

impl TextDiff {
    /// Compares word by word: for prose.
    pub fn words(title: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::by(By::Words, title.into(), old.into(), new.into())
    }

    /// Compares line by line: for code and records. Long stretches without a change are left out.
    pub fn lines(title: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::by(By::Lines, title.into(), old.into(), new.into())
    }

    fn by(by: By, title: String, old: String, new: String) -> Self {
        Self {
            title,
            old,
            new,
            old_name: "before".to_owned(),
            new_name: "after".to_owned(),
            by,
            marks: None,
        }
    }

    /// Sets the names of the two texts, in place of "before" and "after".
    #[must_use]
    pub fn named(mut self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.old_name = old.into();
        self.new_name = new.into();
        self
    }

    /// Underlines byte ranges of the two texts, in a comparison by words. `name` says what they are. A range that is not in its text
    /// is left out.
    #[must_use]
    pub fn marked(
        mut self,
        name: impl Into<String>,
        mut old: Vec<Range<usize>>,
        mut new: Vec<Range<usize>>,
    ) -> Self {
        for ranges in [&mut old, &mut new] {
            ranges.sort_by_key(|range| (range.start, range.end));
        }
        let name = name.into();
        self.marks = Some(Marks { name, old, new });
        self
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Markup {
        let (old, old_total) = text::cut(&self.old, text::BLOCK);
        let (new, new_total) = text::cut(&self.new, text::BLOCK);
        // What is compared is what is shown, so that no mark is on a character nobody sees.
        let marks = self.marks.as_ref();
        let old = Side::of(old, marks.map_or(&[], |marks| &marks.old));
        let new = Side::of(new, marks.map_or(&[], |marks| &marks.new));
        let shown = compare(self.by, &old, &new);
        let caption = anchors.fresh();
        let summary = if self.old == self.new {
            "The texts are equal.".to_owned()
        } else if shown.removed + shown.added == 0 {
            "The texts differ, but not in what is shown here.".to_owned()
        } else {
            format!(
                "{} removed, {} added.",
                counted(shown.removed, "passage"),
                counted(shown.added, "passage")
            )
        };
        html! {
            figure class="diff" aria-labelledby=(caption) {
                figcaption id=(caption) {
                    span class="name" { (text::markup(&self.title, text::TITLE)) } " "
                    span class="key" {
                        del { "only in " bdi { (text::markup(&self.old_name, text::TITLE)) } } " "
                        ins { "only in " bdi { (text::markup(&self.new_name, text::TITLE)) } }
                        @if let Some(marks) = marks.filter(|_| !shown.code) {
                            " " u { (text::markup(&marks.name, text::TITLE)) }
                        }
                    }
                }
                div class={ "text" @if shown.code { " code" } } { (shown.markup) }
                p class="note" {
                    (summary)
                    @for (name, total) in [(&self.old_name, old_total), (&self.new_name, new_total)] {
                        @if let Some(total) = total {
                            " " bdi { (text::markup(name, text::TITLE)) } ":" (text::cut_note(text::BLOCK, total))
                        }
                    }
                }
            }
        }
    }
}

/// A text as it is shown, and the ranges of it that are underlined: in order, none over another.
struct Side {
    text: String,
    marks: Vec<Range<usize>>,
}

impl Side {
    fn of(source: &str, ranges: &[Range<usize>]) -> Self {
        let mut side = Self {
            text: String::with_capacity(source.len()),
            marks: Vec::new(),
        };
        for (marked, piece) in pieces(source, ranges.iter().cloned()) {
            let start = side.text.len();
            side.text.push_str(&text::visible(piece));
            if marked {
                side.marks.push(start..side.text.len());
            }
        }
        side
    }

    /// The marks in a passage that begins at byte `start`, counted from there.
    fn marks_in(&self, start: usize, passage: &str) -> impl Iterator<Item = Range<usize>> {
        let end = start + passage.len();
        let inside = move |mark: &Range<usize>| mark.start.max(start)..mark.end.min(end);
        let inside = self
            .marks
            .iter()
            .map(inside)
            .filter(|mark| !mark.is_empty());
        inside.map(move |mark| mark.start - start..mark.end - start)
    }
}

/// Cuts a text at the ends of ranges, which come by their starts. Each piece says whether it is in a range.
fn pieces(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for range in ranges {
        let range = range.start.max(from)..range.end;
        if let (Some(before), Some(inside)) = (text.get(from..range.start), text.get(range.clone()))
        {
            pieces.extend([(false, before), (true, inside)]);
            from = range.end;
        }
    }
    pieces.push((false, &text[from..]));
    pieces
}

/// A comparison in the form in which it is shown.
struct ShownLines {
    markup: Markup,
    removed: usize,
    added: usize,
    code: bool,
}

fn compare(by: By, old_side: &Side, new_side: &Side) -> ShownLines {
    let (old, new) = (&*old_side.text, &*new_side.text);
    let lines = old.lines().count() + new.lines().count();
    if by == By::Words && words(old) + words(new) <= COMPARED {
        by_words(old_side, new_side)
    } else if lines <= COMPARED {
        by_lines(old, new)
    } else {
        // Too much to compare: both are shown as they are.
        let both = old != new;
        ShownLines {
            markup: html! { @if both { del { (old) } "\n" ins { (new) } } @else { (old) } },
            removed: usize::from(both),
            added: usize::from(both),
            code: by == By::Lines,
        }
    }
}

/// Splits a text into words and the spaces between them.
fn words(text: &str) -> usize {
    2 * text.split_whitespace().count() + 1
}

fn by_words(old: &Side, new: &Side) -> ShownLines {
    let differ = Differ::from_words(&old.text, &new.text);
    let mut passages: Vec<(ChangeTag, String)> = Vec::new();
    for change in differ.iter_all_changes() {
        match passages.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => passages.push((change.tag(), change.value().to_owned())),
        }
    }
    let count = |wanted| passages.iter().filter(|(tag, _)| *tag == wanted).count();
    let (mut in_old, mut in_new) = (0, 0);
    let mut underlined = |tag: ChangeTag, passage: &str| {
        let mut marks = Vec::new();
        if tag != ChangeTag::Insert {
            marks.extend(old.marks_in(in_old, passage));
            in_old += passage.len();
        }
        if tag != ChangeTag::Delete {
            marks.extend(new.marks_in(in_new, passage));
            in_new += passage.len();
        }
        marks.sort_by_key(|mark| mark.start);
        html! {
            @for (marked, piece) in pieces(passage, marks.into_iter()) {
                @if marked { u { (piece) } } @else { (piece) }
            }
        }
    };
    ShownLines {
        removed: count(ChangeTag::Delete),
        added: count(ChangeTag::Insert),
        code: false,
        markup: html! {
            @for (tag, passage) in &passages {
                @let passage = underlined(*tag, passage);
                @match tag {
                    ChangeTag::Equal => span { (passage) },
                    ChangeTag::Delete => del { (passage) },
                    ChangeTag::Insert => ins { (passage) },
                }
            }
        },
    }
}

fn by_lines(old: &str, new: &str) -> ShownLines {
    let differ = Differ::from_lines(old, new);
    let groups = differ.grouped_ops(AROUND);
    let (mut removed, mut added) = (0, 0);
    for operation in groups.iter().flatten() {
        let (tag, before, after) = operation.as_tag_tuple();
        if tag != similar::DiffTag::Equal {
            removed += usize::from(!before.is_empty());
            added += usize::from(!after.is_empty());
        }
    }
    let mut upto = 0;
    let last = differ.old_len();
    let markup = html! {
        @for group in &groups {
            @if let Some(first) = group.first() {
                (skipped(first.old_range().start.saturating_sub(upto)))
            }
            @for change in group.iter().flat_map(|operation| differ.iter_changes(operation)) {
                @let line = change.value().trim_end_matches('\n');
                @match change.tag() {
                    ChangeTag::Equal => span class="line" { "  " (line) "\n" },
                    ChangeTag::Delete => del class="line" { "- " (line) "\n" },
                    ChangeTag::Insert => ins class="line" { "+ " (line) "\n" },
                }
            }
            @if let Some(operation) = group.last() {
                @let () = upto = operation.old_range().end;
            }
        }
        (skipped(last.saturating_sub(upto)))
    };
    ShownLines {
        markup,
        removed,
        added,
        code: true,
    }
}

/// A line in place of unchanged ones.
fn skipped(count: usize) -> Markup {
    html! {
        @if count > 0 { span class="line skipped" { "… " (counted(count, "equal line")) "\n" } }
    }
}
