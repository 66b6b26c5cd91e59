use maud::{Markup, html};

use super::facts;
use crate::document::anchor::{self, Anchors};
use crate::document::cell::Cell;
use crate::document::number::counted;
use crate::document::status::Status;
use crate::document::text;
use crate::error::Error;

/// A list of text entries, with a search box if scripts run.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchableList {
    title: String,
    entries: Vec<Entry>,
}

impl SearchableList {
    /// A list with these entries.
    pub fn new(title: impl Into<String>, entries: impl IntoIterator<Item = Entry>) -> Self {
        Self {
            title: title.into(),
            entries: entries.into_iter().collect(),
        }
    }

    /// The anchors of the entries.
    pub(crate) fn collect(&self, anchors: &mut Anchors) -> Result<(), Error> {
        let named = self
            .entries
            .iter()
            .filter_map(|entry| entry.anchor.as_ref());
        named.into_iter().try_for_each(|anchor| anchors.add(anchor))
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let title = anchors.fresh();
        let field = anchors.fresh();
        Ok(html! {
            div class="list" role="group" aria-labelledby=(title) {
                p class="name" id=(title) {
                    (text::markup(&self.title, text::TITLE)) " "
                    span class="key" { (counted(self.entries.len(), "entry").replace("entrys", "entries")) }
                }
                // The script shows it: a box that does nothing would be worse than none.
                div class="search" role="search" hidden {
                    label for=(field) { "Search" } " "
                    input id=(field) type="search" autocomplete="off" spellcheck="false"; " "
                    output for=(field) {}
                }
                ol {
                    @for entry in &self.entries { (entry.render(anchors)?) "\n" }
                }
            }
        })
    }
}

/// An entry of a [`SearchableList`]: a title, facts, and text in parts with a status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    title: String,
    anchor: Option<String>,
    facts: Vec<(String, Cell)>,
    text: Vec<(Status, String)>,
}

impl Entry {
    /// An entry with a title only.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Sets the target of a [`Cell::Link`]: any text that is unique on the page.
    #[must_use]
    pub fn anchor(mut self, anchor: impl Into<String>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// Adds a named value.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<Cell>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// Adds a part of the text, directly after the last one. White space is kept.
    #[must_use]
    pub fn text(mut self, status: Status, text: impl Into<String>) -> Self {
        self.text.push((status, text.into()));
        self
    }

    fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let id = self.anchor.as_deref().map(anchor::id);
        // The limit is the whole entry's: what the stretches before have taken is gone.
        let mut left = text::BLOCK;
        let total: usize = self.text.iter().map(|(_, text)| text.chars().count()).sum();
        let stretches: Vec<(Status, &str)> = (self.text.iter())
            .map(|(status, whole)| {
                let (kept, _) = text::cut(whole, left);
                left -= kept.chars().count();
                (*status, kept)
            })
            .filter(|(_, kept)| !kept.is_empty())
            .collect();
        Ok(html! {
            li id=[id] {
                b { (text::markup(&self.title, text::TITLE)) }
                @if !self.facts.is_empty() { (facts(&self.facts, anchors)?) }
                @if !stretches.is_empty() {
                    div class="text" {
                        @for (status, kept) in &stretches {
                            @match status {
                                Status::Neutral => (text::visible(kept)),
                                toned => span class=(toned.class()) { (text::visible(kept)) },
                            }
                        }
                        @if total > text::BLOCK { (text::cut_note(text::BLOCK, total)) }
                    }
                }
            }
        })
    }
}
