//! Drawings as one SVG file.

use maud::{Markup, PreEscaped, html};

use crate::document::anchor::Anchors;
use crate::document::number::coordinate;
use crate::document::text;
use crate::error::Error;
use crate::plot::Plot;
use crate::plot::figure::{Drawing, WIDTH};
use crate::plot::tree::Tree;

/// The style of a picture, with colours for light and dark.
const STYLE: &str = include_str!("document/picture.css");
/// The space for the title of a drawing, and the margin of the picture, in units of the drawing.
const TITLE: f64 = 28.0;
const MARGIN: f64 = 16.0;
/// The height of a line of a title, and the number of characters that fit one.
const LINE: f64 = 18.0;
const LETTERS: usize = 90;

/// An SVG file with drawings below each other. It refers to no other file and has no script.
///
/// ```
/// use report_kit::picture::Picture;
/// use report_kit::{Axis, Plot, Series};
///
/// # fn main() -> Result<(), report_kit::Error> {
/// let shares = Plot::stacked("Shares", Axis::new("round"), Axis::new("share").percent())
///     .with(Series::line("<script>", [(0.0, 0.25), (1.0, 0.5)]))
///     .with(Series::line("others", [(0.0, 0.75), (1.0, 0.5)]));
/// let svg = Picture::new("Roots").plot(shares).render()?;
/// assert!(svg.starts_with("<svg xmlns="));
/// assert!(!svg.contains("<script>"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    title: String,
    parts: Vec<PicturePart>,
}

#[derive(Debug, Clone, PartialEq)]
enum PicturePart {
    Plot(Plot),
    Tree(Tree),
}

impl Picture {
    /// Creates a picture without drawings.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            parts: Vec::new(),
        }
    }

    /// Adds a plot without its legend and its numbers.
    #[must_use]
    pub fn plot(mut self, plot: Plot) -> Self {
        self.parts.push(PicturePart::Plot(plot));
        self
    }

    /// Adds a tree, whose nodes cannot be links here.
    #[must_use]
    pub fn tree(mut self, tree: Tree) -> Self {
        self.parts.push(PicturePart::Tree(tree));
        self
    }

    /// Renders the file; the same data gives the same bytes. A sentence replaces a drawing without values.
    ///
    /// # Errors
    /// [`Error::UnknownAnchor`] for a tree with a link.
    pub fn render(&self) -> Result<String, Error> {
        let anchors = Anchors::default();
        let mut top = MARGIN + TITLE;
        let mut drawn = Vec::new();
        for part in &self.parts {
            let (title, drawing) = match part {
                PicturePart::Plot(plot) => (plot.title(), plot.drawing()),
                PicturePart::Tree(tree) => (tree.title(), tree.drawing(&anchors)?),
            };
            let lines = wrapped(&text::label(title, text::TITLE));
            let space = TITLE + LINE * (lines.len() as f64 - 1.0);
            drawn.push(placed(&lines, space, drawing.as_ref(), top));
            top += space + drawing.map_or(TITLE, |drawing| drawing.height) + MARGIN;
        }
        let (width, height) = (WIDTH + 2.0 * MARGIN, top);
        let file = html! {
            svg xmlns="http://www.w3.org/2000/svg" role="img"
                viewBox={ "0 0 " (coordinate(width)) " " (coordinate(height)) } {
                title { (text::label(&self.title, text::TITLE)) }
                style { (PreEscaped(STYLE)) }
                rect class="ground" width=(coordinate(width)) height=(coordinate(height)) {}
                text class="title" x=(coordinate(MARGIN)) y=(coordinate(MARGIN + 12.0)) {
                    (text::label(&self.title, text::TITLE))
                }
                @for part in &drawn { (part) }
            }
            "\n"
        };
        Ok(file.into_string())
    }
}

/// Returns the lines of a title: SVG breaks none. A word that is longer than a line is a line.
fn wrapped(title: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in title.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn placed(title: &[String], space: f64, drawing: Option<&Drawing>, top: f64) -> Markup {
    let inside = format!("translate({} {})", coordinate(MARGIN), coordinate(space));
    html! {
        g transform={ "translate(0 " (coordinate(top)) ")" } {
            @for (index, line) in title.iter().enumerate() {
                text class="name" x=(coordinate(MARGIN)) y=(coordinate(14.0 + LINE * index as f64)) { (line) }
            }
            g transform=(inside) {
                @match drawing {
                    Some(drawing) => {
                        desc { (drawing.description) }
                        (drawing.content)
                    }
                    None => text x="0" y="14" { "There is nothing to draw." },
                }
            }
        }
    }
}
