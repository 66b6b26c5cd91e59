//! Parts of a page, and the lists in them.

pub(crate) mod list;

use maud::{Markup, html};

use self::list::SearchableList;
use crate::browser::Browser;
use crate::diff::TextDiff;
use crate::document::anchor::{self, Anchors};
use crate::document::cell::Cell;
use crate::document::status::Status;
use crate::document::text;
use crate::error::Error;
use crate::plot::Plot;
use crate::plot::spacetime::SpaceTime;
use crate::plot::tree::Tree;
use crate::table::Table;

/// A part of a page under a heading: texts, tables, drawings, in the order they were added.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    title: String,
    anchor: Option<String>,
    folded: bool,
    parts: Vec<Part>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Code { name: String, code: String },
    Command { name: String, line: String },
    Notice(Status, String),
    Facts(Vec<(String, Cell)>),
    Table(Table),
    Plot(Plot),
    Grid(SpaceTime),
    Tree(Tree),
    Diff(TextDiff),
    List(SearchableList),
    Browser(Browser),
    Section(Section),
    Columns(Vec<Section>),
}

impl Section {
    /// Creates a section with a heading only.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            anchor: None,
            folded: false,
            parts: Vec::new(),
        }
    }

    /// Sets the target of a [`Cell::Link`], which also keeps the section's address stable: any text that is unique on the page.
    #[must_use]
    pub fn anchor(mut self, anchor: impl Into<String>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// Folds the section: only the heading is shown until the reader unfolds it.
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.folded = true;
        self
    }

    /// Adds a paragraph. Line breaks are kept.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    /// Adds named text in a monospaced font.
    #[must_use]
    pub fn code(self, name: impl Into<String>, code: impl Into<String>) -> Self {
        self.part(Part::Code {
            name: name.into(),
            code: code.into(),
        })
    }

    /// Adds a command line, which the reader can copy.
    #[must_use]
    pub fn command(self, name: impl Into<String>, line: impl Into<String>) -> Self {
        self.part(Part::Command {
            name: name.into(),
            line: line.into(),
        })
    }

    /// Adds a highlighted line.
    #[must_use]
    pub fn notice(self, status: Status, text: impl Into<String>) -> Self {
        self.part(Part::Notice(status, text.into()))
    }

    /// Adds named values.
    #[must_use]
    pub fn facts<N: Into<String>>(self, facts: impl IntoIterator<Item = (N, Cell)>) -> Self {
        self.part(Part::Facts(named(facts)))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.part(Part::Table(table))
    }

    /// Adds a plot.
    #[must_use]
    pub fn plot(self, plot: Plot) -> Self {
        self.part(Part::Plot(plot))
    }

    /// Adds a space-time diagram.
    #[must_use]
    pub fn grid(self, grid: SpaceTime) -> Self {
        self.part(Part::Grid(grid))
    }

    /// Adds a tree of descent.
    #[must_use]
    pub fn tree(self, tree: Tree) -> Self {
        self.part(Part::Tree(tree))
    }

    /// Adds a comparison of two texts.
    #[must_use]
    pub fn diff(self, diff: TextDiff) -> Self {
        self.part(Part::Diff(diff))
    }

    /// Adds a searchable list.
    #[must_use]
    pub fn list(self, list: SearchableList) -> Self {
        self.part(Part::List(list))
    }

    /// Adds a browser of many items.
    #[must_use]
    pub fn browser(self, browser: Browser) -> Self {
        self.part(Part::Browser(browser))
    }

    /// Adds a section inside this one.
    #[must_use]
    pub fn section(self, section: Section) -> Self {
        self.part(Part::Section(section))
    }

    /// Adds sections that are in columns where the window is wide.
    #[must_use]
    pub fn columns(self, sections: impl IntoIterator<Item = Section>) -> Self {
        self.part(Part::Columns(sections.into_iter().collect()))
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the heading and its address, for the list of contents.
    pub(crate) fn entry(&self, index: usize) -> (&str, String) {
        (&self.title, self.id(index))
    }

    fn id(&self, index: usize) -> String {
        match &self.anchor {
            Some(anchor) => anchor::id(anchor),
            None => format!("section-{}", index + 1),
        }
    }

    /// Renders a top-level section, folded if it or the page asks for it.
    pub(crate) fn render(
        &self,
        index: usize,
        folded: bool,
        anchors: &Anchors,
    ) -> Result<Markup, Error> {
        self.render_at(2, Some(self.id(index)), self.folded || folded, anchors)
    }

    /// Renders a section inside one of this level.
    fn render_inside(&self, level: u8, anchors: &Anchors) -> Result<Markup, Error> {
        let id = self.anchor.as_deref().map(anchor::id);
        self.render_at(level + 1, id, self.folded, anchors)
    }

    fn render_at(
        &self,
        level: u8,
        id: Option<String>,
        folded: bool,
        anchors: &Anchors,
    ) -> Result<Markup, Error> {
        let title = text::breakable(&self.title, text::TITLE);
        let heading = match level {
            2 => html! { h2 { (title) } },
            3 => html! { h3 { (title) } },
            4 => html! { h4 { (title) } },
            _ => html! { h5 { (title) } },
        };
        let content = render_parts(&self.parts, level, anchors)?;
        Ok(html! {
            @if folded {
                // A browser unfolds an element if a link leads to a place inside it, so the id is inside.
                section {
                    details { summary { (heading) } div class="folded" id=[id] { (content) } }
                }
            } @else {
                section id=[id] { (heading) (content) }
            }
            "\n"
        })
    }
}

/// Registers the anchors of sections and lists, so that links may also lead forward.
pub(crate) fn collect(parts: &[Part], anchors: &mut Anchors) -> Result<(), Error> {
    for part in parts {
        match part {
            Part::Section(section) => collect_section(section, anchors)?,
            Part::Columns(sections) => {
                (sections.iter()).try_for_each(|section| collect_section(section, anchors))?;
            }
            Part::List(list) => list.collect(anchors)?,
            Part::Browser(browser) => browser.collect(anchors)?,
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn collect_section(section: &Section, anchors: &mut Anchors) -> Result<(), Error> {
    if let Some(anchor) = &section.anchor {
        anchors.add(anchor)?;
    }
    collect(&section.parts, anchors)
}

pub(crate) fn render_parts<'a>(
    parts: impl IntoIterator<Item = &'a Part>,
    level: u8,
    anchors: &Anchors,
) -> Result<Markup, Error> {
    Ok(html! {
        @for part in parts { (render_part(part, level, anchors)?) "\n" }
    })
}

fn render_part(part: &Part, level: u8, anchors: &Anchors) -> Result<Markup, Error> {
    Ok(match part {
        Part::Text(words) => html! { p class="text" { (text::markup(words, text::BLOCK)) } },
        Part::Code { name, code } => code_block("code", name, code),
        Part::Command { name, line } => code_block("code command", name, line),
        Part::Notice(status, words) => html! {
            p class={ "notice " (status.class()) } {
                span class="sign" aria-hidden="true" { (status.sign()) }
                bdi { (text::markup(words, text::CELL)) }
            }
        },
        Part::Facts(pairs) => facts(pairs, anchors)?,
        Part::Table(table) => table.render(anchors)?,
        Part::Plot(plot) => plot.render(anchors)?,
        Part::Grid(grid) => grid.render(anchors),
        Part::Tree(tree) => tree.render(anchors)?,
        Part::Diff(diff) => diff.render(anchors),
        Part::List(list) => list.render(anchors)?,
        Part::Browser(browser) => browser.render(anchors)?,
        Part::Section(section) => section.render_inside(level, anchors)?,
        Part::Columns(sections) => html! {
            div class="columns" {
                @for section in sections { (section.render_inside(level, anchors)?) }
            }
        },
    })
}

/// Renders text in a monospaced font. The script adds a button that copies it.
fn code_block(class: &str, name: &str, code: &str) -> Markup {
    html! {
        figure class=(class) {
            figcaption { (text::breakable(name, text::TITLE)) }
            div class="text code" { (text::markup(code, text::BLOCK)) }
        }
    }
}

/// Converts pairs of a name and a value.
pub(crate) fn named<N: Into<String>>(
    facts: impl IntoIterator<Item = (N, Cell)>,
) -> Vec<(String, Cell)> {
    (facts.into_iter())
        .map(|(name, value)| (name.into(), value))
        .collect()
}

/// Renders names and their values.
pub(crate) fn facts(pairs: &[(String, Cell)], anchors: &Anchors) -> Result<Markup, Error> {
    Ok(html! {
        dl {
            @for (name, value) in pairs {
                div { dt { (text::breakable(name, text::TITLE)) } dd { (value.render(anchors)?) } }
            }
        }
    })
}
