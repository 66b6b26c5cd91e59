use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use crate::document::anchor::Anchors;
use crate::document::embed::Embedded;
use crate::document::frame::{DATA, document};
use crate::document::status::Status;
use crate::document::text;
use crate::error::Error;
use crate::plot::Plot;
use crate::plot::spacetime::SpaceTime;
use crate::section::{self, Part, Section};

/// The number of sections from which a page has a list of contents.
const CONTENTS_FROM: usize = 3;

/// A page: a title, the result in a sentence, its origin, at most one notice, a figure, sections, provenance, and the data it
/// was made from.
///
/// It is rendered in this order, whatever the order of the calls. The provenance is folded.
#[derive(Debug)]
#[must_use = "a page is nothing until it is rendered"]
pub struct Page {
    title: String,
    lead: Vec<Part>,
    origin: Option<Part>,
    notice: Option<Part>,
    figure: Option<Part>,
    sections: Vec<Section>,
    provenance: Option<Section>,
    data: Vec<Embedded>,
    refresh_secs: Option<u64>,
}

impl Page {
    /// A page with a title only.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lead: Vec::new(),
            origin: None,
            notice: None,
            figure: None,
            sections: Vec::new(),
            provenance: None,
            data: Vec::new(),
            refresh_secs: None,
        }
    }

    /// Adds a paragraph at the top, for the main result.
    pub fn lead(mut self, text: impl Into<String>) -> Self {
        self.lead.push(Part::Text(text.into()));
        self
    }

    /// Sets the label of origin: offline, recorded from a model, replayed.
    pub fn origin(mut self, status: Status, text: impl Into<String>) -> Self {
        self.origin = Some(Part::Notice(status, text.into()));
        self
    }

    /// Sets the one notice at the top: the run was cut short. Others belong to the section on limits.
    pub fn notice(mut self, status: Status, text: impl Into<String>) -> Self {
        self.notice = Some(Part::Notice(status, text.into()));
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

    /// Makes it the page of a run in progress: a notice says so, and a browser loads the page again after this time.
    pub fn in_progress(mut self, notice: impl Into<String>, refresh_secs: u64) -> Self {
        self.refresh_secs = Some(refresh_secs);
        self.notice(Status::Info, notice)
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
        let head = (self.lead.iter())
            .chain(&self.origin)
            .chain(&self.notice)
            .chain(&self.figure);
        let head = section::render_parts(head, 1, &anchors)?;
        let body = html! {
            header {
                h1 { (text::breakable(&self.title, text::TITLE)) }
                (head)
            }
            (self.contents())
            main {
                @for (index, section) in self.all().enumerate() {
                    @let is_last = index == self.sections.len();
                    (section.render(index, is_last, &anchors)?)
                }
            }
            (self.footer())
            @for embedded in &self.data { (embedded.render()?) "\n" }
        };
        let title = text::label(&self.title, text::TITLE);
        Ok(document(&title, &body, self.refresh_secs))
    }

    /// Every section, the provenance last.
    fn all(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().chain(&self.provenance)
    }

    fn contents(&self) -> Markup {
        html! {
            @if self.all().count() >= CONTENTS_FROM {
                nav aria-label="Contents" { details { summary { "Contents" } ol {
                    @for (index, section) in self.all().enumerate() {
                        @let (title, id) = section.entry(index);
                        li { a href={ "#" (id) } { bdi { (text::breakable(title, text::TITLE)) } } }
                    }
                } } }
                "\n"
            }
        }
    }

    /// A line that names the embedded data, where a reader finds the full text of a cut one. The script adds buttons.
    fn footer(&self) -> Markup {
        html! {
            @if !self.data.is_empty() {
                footer id=(DATA) {
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
