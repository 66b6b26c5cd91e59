//! Self-contained, escaped HTML pages, made from data.
//!
//! A [`Page`] has tables, plots, space-time diagrams, text diffs, searchable lists and the data itself. It is one file that opens
//! without a network. It is readable in light and dark mode, on paper, on a narrow screen and without scripts.
//!
//! ```
//! use report_kit::{Axis, Cell, Page, Plot, Section, Series, SpaceTime, Table, TextDiff, Status};
//!
//! # fn main() -> Result<(), report_kit::Error> {
//! let verdicts = Table::new("Verdicts", ["Law", "Verdict", "Power"])
//!     .row([Cell::code("N_R = N_L"), Cell::badge("FAIL", Status::Bad), Cell::number(0.934, 2)])
//!     .row([Cell::link("N_R + N_L", "law-2"), Cell::badge("PASS", Status::Good), Cell::Missing]);
//! let discovery = Plot::xy("Laws found", Axis::new("calls").log(), Axis::new("laws"))
//!     .with(Series::line("this run", [(1.0, 0.0), (10.0, 3.0), (100.0, 4.0)]));
//! let world = SpaceTime::new("Where it breaks", [">.<", ".X.", "<.>"])
//!     .symbol('.', "empty")
//!     .symbol('>', "moves right")
//!     .symbol('<', "moves left")
//!     .symbol('X', "collision")
//!     .mark(1, 1, "both movers are gone");
//!
//! let page = Page::new("Run 7")
//!     .lead("Four laws in a hundred calls.")
//!     .grid(world)
//!     .section(Section::new("Laws").table(verdicts).plot(discovery))
//!     .section(
//!         Section::new("The law that was kept")
//!             .anchor("law-2")
//!             .diff(TextDiff::words("Rewording", "N_R and N_L", "N_R plus N_L")),
//!     )
//!     .provenance(
//!         Section::new("Provenance")
//!             .facts([("seed", 7.into()), ("model", Cell::text("<script>alert(1)</script>"))]),
//!     )
//!     .data("run", &[1, 2, 3]);
//!
//! let html = page.render()?;
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.contains("&lt;script&gt;alert(1)"));
//! assert_eq!(html, page.render()?);
//! # Ok(())
//! # }
//! ```
//!
//! **The one decision.** Engines pass data. The interface accepts no markup: no raw HTML, no attribute, no address, no
//! colour. Text of a model becomes the text of an element and nothing else, with control and direction characters made
//! visible ([`visible`]) and overlong text cut with a note. So the rules that make a page safe are implemented here once,
//! and an engine cannot forget them: escaping, a content security policy with the hashes of its style and scripts, and
//! embedded JSON that cannot leave its element.
//!
//! The same data gives the same bytes: there is no clock, no random id, and keys of embedded maps are sorted.
//!
//! Read next: [`Page`] and [`Section`] for the structure, [`Cell`] for values, [`Plot`], [`SpaceTime`], [`Tree`], [`TextDiff`],
//! [`SearchableList`] and [`Browser`] for the parts, [`picture::Picture`] for drawings as a file, [`Error`] for the errors of [`Page::render`].

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod browser;
mod diff;
mod document;
mod error;
mod page;
pub mod picture;
mod plot;
mod section;
mod table;

pub use browser::{Browser, Item, Value};
pub use diff::TextDiff;
pub use document::cell::Cell;
pub use document::status::Status;
pub use document::text::visible;
pub use error::Error;
pub use page::Page;
pub use plot::spacetime::SpaceTime;
pub use plot::tree::Tree;
pub use plot::{Axis, Bar, Plot, Point, Series};
pub use section::Section;
pub use section::list::{Entry, SearchableList};
pub use table::Table;
