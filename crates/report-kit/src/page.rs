use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use crate::anchor::Anchors;
use crate::cell::Cell;
use crate::document::{self, Scripts};
use crate::embed::Embedded;
use crate::error::Error;
use crate::section::{self, Part, Section};
use crate::text;
use crate::tone::Tone;

/// Sections from which on the page has a list of contents.
const CONTENTS_FROM: usize = 3;

/// A page: a title, what stands at its head, sections, and the data it was made from.
#[derive(Debug)]
#[must_use = "a page is nothing until it is rendered"]
pub struct Page {
    title: String,
    head: Vec<Part>,
    sections: Vec<Section>,
    data: Vec<Embedded>,
}

impl Page {
    /// A page with nothing but a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            head: Vec::new(),
            sections: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Adds a paragraph to the head: what the reader should know if he reads nothing else.
    pub fn lead(mut self, text: impl Into<String>) -> Self {
        self.head.push(Part::Text(text.into()));
        self
    }

    /// Adds a line to the head that stands out: no model was asked, the run was cut short.
    pub fn notice(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.head.push(Part::Notice(tone, text.into()));
        self
    }

    /// Adds named values to the head.
    pub fn facts<N: Into<String>>(mut self, facts: impl IntoIterator<Item = (N, Cell)>) -> Self {
        self.head.push(Part::Facts(section::named(facts)));
        self
    }

    /// Adds a section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Embeds data as JSON, in the element with the id `data-NAME`. Nothing of it is cut; maps are sorted by their keys.
    /// The name is lower-case letters, digits and hyphens.
    pub fn data(mut self, name: impl Into<String>, data: &impl Serialize) -> Self {
        self.data.push(Embedded::new(name.into(), data));
        self
    }

    /// The page as the text of one HTML file.
    ///
    /// # Errors
    ///
    /// What the program that filled the page did wrong: a row of a wrong width, an anchor that is missing or used twice,
    /// data without a proper name or without a JSON form.
    pub fn render(&self) -> Result<String, Error> {
        let mut anchors = Anchors::default();
        for section in &self.sections {
            section::collect_section(section, &mut anchors)?;
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = (self.data.iter()).find(|embedded| !names.insert(&embedded.name)) {
            return Err(Error::DuplicateData {
                name: twice.name.clone(),
            });
        }
        let head = section::render_parts(&self.head, 1, &anchors)?;
        let body = html! {
            header {
                h1 { (text::markup(&self.title, text::TITLE)) }
                (head)
            }
            (self.contents())
            main {
                @for (index, section) in self.sections.iter().enumerate() {
                    (section.render(index, &anchors)?)
                }
            }
            (self.footer())
            @for embedded in &self.data { (embedded.render()?) "\n" }
        };
        let needed = self.sections.iter().map(Section::scripts);
        let scripts = needed.fold(Scripts::default(), Scripts::and);
        let title = text::label(&self.title, text::TITLE);
        Ok(document::document(&title, &body, scripts))
    }

    fn contents(&self) -> Markup {
        html! {
            @if self.sections.len() >= CONTENTS_FROM {
                nav aria-label="Contents" { ol {
                    @for (index, section) in self.sections.iter().enumerate() {
                        @let (title, id) = section.entry(index);
                        li { a href={ "#" (id) } { bdi { (text::markup(title, text::TITLE)) } } }
                    }
                } }
                "\n"
            }
        }
    }

    /// Where the data is: a reader who looks for a cut text has to find it.
    fn footer(&self) -> Markup {
        html! {
            @if !self.data.is_empty() {
                footer {
                    p {
                        "The data of this page is inside of it, uncut, as JSON in the elements"
                        @for (index, embedded) in self.data.iter().enumerate() {
                            @if index > 0 { "," }
                            " " code { (embedded.id()) } " (" (embedded.size()) " bytes)"
                        }
                        "."
                    }
                }
                "\n"
            }
        }
    }
}
