use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use crate::document::anchor::Anchors;
use crate::document::embed::Embedded;
use crate::document::frame::{Scripts, document};
use crate::document::status::Status;
use crate::document::text;
use crate::error::Error;
use crate::plot::Plot;
use crate::plot::spacetime::SpaceTime;
use crate::section::{self, Part, Section};

/// The number of sections from which a page has a list of contents.
const CONTENTS_FROM: usize = 3;
/// The number of sections that are open; the others are folded.
const OPEN: usize = 4;

/// A page: a title, the result in a sentence and a figure, sections, provenance, and the data it was made from.
///
/// It is rendered in this order, whatever the order of the calls. The sections after the fourth are folded, and so is the
/// provenance.
#[derive(Debug)]
#[must_use = "a page is nothing until it is rendered"]
pub struct Page {
    title: String,
    head: Vec<Part>,
    figure: Option<Part>,
    sections: Vec<Section>,
    provenance: Option<Section>,
    data: Vec<Embedded>,
}

impl Page {
    /// A page with a title only.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            head: Vec::new(),
            figure: None,
            sections: Vec::new(),
            provenance: None,
            data: Vec::new(),
        }
    }

    /// Adds a paragraph to the head, for the main result.
    pub fn lead(mut self, text: impl Into<String>) -> Self {
        self.head.push(Part::Text(text.into()));
        self
    }

    /// Adds a highlighted line to the head: no model was asked, the run was cut short.
    pub fn notice(mut self, status: Status, text: impl Into<String>) -> Self {
        self.head.push(Part::Notice(status, text.into()));
        self
    }

    /// Makes a plot the page's one figure, after the head.
    pub fn plot(mut self, plot: Plot) -> Self {
        self.figure = Some(Part::Plot(plot));
        self
    }

    /// Makes a space-time diagram the page's one figure, after the head.
    pub fn grid(mut self, grid: SpaceTime) -> Self {
        self.figure = Some(Part::Grid(grid));
        self
    }

    /// Adds a section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Sets the last section: sources, hashes, versions, settings, commands.
    pub fn provenance(mut self, section: Section) -> Self {
        self.provenance = Some(section);
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
    /// A mistake of the calling program: a row of a wrong width, an anchor that is missing or used twice, data without a valid
    /// name or JSON form.
    pub fn render(&self) -> Result<String, Error> {
        let mut anchors = Anchors::default();
        for section in self.all() {
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
                @if let Some(figure) = &self.figure {
                    (section::render_parts(std::slice::from_ref(figure), 1, &anchors)?)
                }
            }
            (self.contents())
            main {
                @for (index, section) in self.all().enumerate() {
                    @let folded = index >= OPEN || index == self.sections.len();
                    (section.render(index, folded, &anchors)?)
                }
            }
            (self.footer())
            @for embedded in &self.data { (embedded.render()?) "\n" }
        };
        let needed = self.all().map(Section::scripts);
        let scripts = needed.fold(Scripts::default(), Scripts::and);
        let title = text::label(&self.title, text::TITLE);
        Ok(document(&title, &body, scripts))
    }

    /// Every section, the provenance last.
    fn all(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().chain(&self.provenance)
    }

    fn contents(&self) -> Markup {
        html! {
            @if self.all().count() >= CONTENTS_FROM {
                nav aria-label="Contents" { ol {
                    @for (index, section) in self.all().enumerate() {
                        @let (title, id) = section.entry(index);
                        li { a href={ "#" (id) } { bdi { (text::markup(title, text::TITLE)) } } }
                    }
                } }
                "\n"
            }
        }
    }

    /// A line that names the embedded data, where a reader finds the full text of a cut one.
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
