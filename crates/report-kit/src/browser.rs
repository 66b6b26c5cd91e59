use std::collections::BTreeSet;
use std::ops::Range;

use maud::{Markup, html};
use serde::Serialize;

use crate::document::anchor::{self, Anchors};
use crate::document::embed;
use crate::document::number::counted;
use crate::document::status::Status;
use crate::document::text;
use crate::error::Error;

/// A browser for thousands of items, each a part of a longer text, for which a [`SearchableList`](crate::SearchableList) would be
/// too large.
///
/// The page contains each text once, as data, and the script shows the selected items. Without scripts a sentence replaces the
/// browser.
///
/// ```
/// use report_kit::{Browser, Item, Status, Value};
///
/// let mut messages = Browser::new("Messages", ["round", "answers"]).status(Status::Good, "sent");
/// let answer = messages.text("I think.\n---\nHello.\n---\n---\n", [(13..19, Status::Good)]);
/// messages.item(Item {
///     name: "message 0".into(),
///     anchor: Some("message-0".into()),
///     place: Some((answer, 13..19)),
///     values: vec![Value::Number(1), Value::Items(vec![])],
/// });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Browser {
    title: String,
    columns: Vec<String>,
    tones: Vec<(Status, String)>,
    texts: Vec<Source>,
    items: Vec<Item>,
}

/// An item of a [`Browser`].
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "an item is its columns, its kinds and its text"
)]
pub struct Item {
    /// The name, cut after 300 characters.
    pub name: String,
    /// The target of a [`Cell::Link`](crate::Cell::Link): any text that is unique on the page.
    pub anchor: Option<String>,
    /// The number of the text, from [`Browser::text`], and the item's byte range in it.
    pub place: Option<(usize, Range<usize>)>,
    /// The values, one for each column.
    pub values: Vec<Value>,
}

/// A value of an [`Item`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Value {
    /// A whole number.
    Number(i64),
    /// A text, cut after 300 characters.
    Text(String),
    /// Links to other items, by their numbers in the order they were added.
    Items(Vec<usize>),
    /// No value; the column is left out.
    Missing,
}

impl Value {
    fn shown(&self) -> Self {
        match self {
            Self::Text(words) => Self::Text(text::label(words, text::TITLE)),
            other => other.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Source {
    text: String,
    marks: Vec<(Range<usize>, Status)>,
}

/// The statuses in the order of the digits that marks use for them.
const TONES: [Status; 5] = [
    Status::Neutral,
    Status::Good,
    Status::Bad,
    Status::Caution,
    Status::Info,
];

impl Browser {
    /// Creates a browser without items; `columns` name their values.
    pub fn new<C: Into<String>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            tones: Vec::new(),
            texts: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Names the meaning of a status in the texts.
    #[must_use]
    pub fn status(mut self, status: Status, name: impl Into<String>) -> Self {
        self.tones.push((status, name.into()));
        self
    }

    /// Adds a text with marks in order and returns its number. A mark that overlaps the one before it is left out.
    pub fn text(
        &mut self,
        text: impl Into<String>,
        marks: impl IntoIterator<Item = (Range<usize>, Status)>,
    ) -> usize {
        self.texts.push(Source {
            text: text.into(),
            marks: marks.into_iter().collect(),
        });
        self.texts.len() - 1
    }

    /// Adds an item.
    pub fn item(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Registers the anchors of the items.
    pub(crate) fn collect(&self, anchors: &mut Anchors) -> Result<(), Error> {
        let mut named = self.items.iter().filter_map(|item| item.anchor.as_ref());
        named.try_for_each(|anchor| anchors.add(anchor))
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let title = anchors.fresh();
        let field = anchors.fresh();
        let data = self.data(&anchors.fresh())?;
        Ok(html! {
            div class="browser" role="group" aria-labelledby=(title) {
                p class="name" id=(title) {
                    (text::markup(&self.title, text::TITLE)) " "
                    span class="key" { (counted(self.items.len(), "entry").replace("entrys", "entries")) }
                }
                p class="unscripted note" { "Looking through them takes the script of this page." }
                // The script shows the search box, which does nothing without it.
                div class="search" role="search" hidden {
                    label for=(field) { "Search" } " "
                    input id=(field) type="search" autocomplete="off" spellcheck="false"; " "
                    button type="button" hidden { "Show all" } " "
                    output for=(field) {}
                }
                @if !self.tones.is_empty() {
                    ul class="legend" {
                        @for (status, name) in &self.tones {
                            li class="text" { span class=(status.class()) { (text::markup(name, text::TITLE)) } }
                        }
                    }
                }
                ol {}
                p { button type="button" class="more" hidden { "Show more" } }
                (data)
            }
        })
    }

    /// Returns the data for the script, as JSON in an element.
    fn data(&self, id: &str) -> Result<Markup, Error> {
        #[derive(Serialize)]
        struct Data {
            columns: Vec<String>,
            tones: [&'static str; TONES.len()],
            texts: Vec<ShownText>,
            items: Vec<Row>,
        }
        /// Name, id, text and its part (or none), values.
        type Row = (String, Option<String>, Option<[usize; 3]>, Vec<Value>);

        let columns = self.columns.len();
        let wrong = |item: &Item| {
            let place = item.place.as_ref();
            item.values.len() != columns
                || place.is_some_and(|(text, _)| *text >= self.texts.len())
                || item.values.iter().any(|value| match value {
                    Value::Items(items) => items.iter().any(|item| *item >= self.items.len()),
                    _ => false,
                })
        };
        if let Some(item) = self.items.iter().position(wrong) {
            return Err(Error::Item {
                browser: self.title.clone(),
                item: item + 1,
            });
        }
        let mut bounds: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.texts.len()];
        for (text, part) in self.items.iter().filter_map(|item| item.place.as_ref()) {
            bounds[*text].extend([part.start, part.end]);
        }
        let shown: Vec<(ShownText, Places)> = (self.texts.iter().zip(bounds))
            .map(|(source, bounds)| source.shown(bounds))
            .collect();
        let items = self.items.iter().map(|item| {
            let place = item.place.as_ref().map(|(text, part)| {
                let places = &shown[*text].1;
                [*text, places.of(part.start), places.of(part.end)]
            });
            let id = item.anchor.as_deref().map(anchor::id);
            let values = item.values.iter().map(Value::shown).collect();
            (text::label(&item.name, text::TITLE), id, place, values)
        });
        let items = items.collect();
        let data = Data {
            columns: (self.columns.iter())
                .map(|name| text::label(name, text::TITLE))
                .collect(),
            tones: TONES.map(Status::class),
            texts: shown.into_iter().map(|(shown, _)| shown).collect(),
            items,
        };
        let json = serde_json::to_string(&data).map_err(|source| Error::Data {
            name: self.title.clone(),
            source,
        })?;
        Ok(embed::element(id, &json))
    }
}

/// A text as it is shown: the text, its number of characters if it was cut, and its marks as start, end and index in [`TONES`].
#[derive(Debug, Serialize)]
struct ShownText(String, Option<usize>, Vec<(usize, usize, usize)>);

/// Positions in a text in bytes, each with the position in the shown text in UTF-16 units, which scripts count.
#[derive(Debug)]
struct Places(Vec<(usize, usize)>);

impl Places {
    fn of(&self, byte: usize) -> usize {
        // A position after a cut is at the end of the shown text.
        let place = self.0.partition_point(|(known, _)| *known < byte);
        let place = self.0.get(place).or(self.0.last());
        place.map_or(0, |(_, unit)| *unit)
    }
}

impl Source {
    /// Returns the visible text with its marks, and the positions of `bounds` in it.
    fn shown(&self, mut bounds: BTreeSet<usize>) -> (ShownText, Places) {
        let (kept, total) = text::cut(&self.text, text::BLOCK);
        for (range, _) in &self.marks {
            bounds.extend([range.start, range.end]);
        }
        bounds.extend([0, kept.len()]);
        let mut shown = String::with_capacity(kept.len());
        let mut places = Vec::with_capacity(bounds.len());
        let (mut last, mut units) = (0, 0);
        for bound in bounds {
            let byte = kept.floor_char_boundary(bound);
            let piece = text::visible(&kept[last..byte]);
            shown.push_str(&piece);
            units += piece.encode_utf16().count();
            places.push((bound, units));
            last = byte;
        }
        let places = Places(places);
        let mut end = 0;
        let mut marks = Vec::with_capacity(self.marks.len());
        for (range, status) in &self.marks {
            let status = TONES.iter().position(|known| known == status).unwrap_or(0);
            let mark = (places.of(range.start), places.of(range.end), status);
            if mark.0 >= end && mark.0 < mark.1 {
                end = mark.1;
                marks.push(mark);
            }
        }
        (ShownText(shown, total, marks), places)
    }
}
