use maud::{Markup, html};

use super::anchor::Anchors;
use super::number::fixed;
use super::status::Status;
use super::text;
use crate::error::Error;

/// The maximum length in bytes of a badge that stays on one line.
const VERDICT: usize = 24;

/// A value in a table or after a name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cell {
    /// A text.
    Text(String),
    /// Text in a monospaced font: a formula, a hash, a command.
    Code(String),
    /// A whole number.
    Integer(i128),
    /// A number with this many digits after the point.
    Number {
        /// The number.
        value: f64,
        /// Digits after the point.
        digits: u8,
    },
    /// A number with its interval.
    Interval {
        /// The number.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// Digits after the point, of all three.
        digits: u8,
    },
    /// A verdict or a state: a word with a colour and a sign.
    Badge {
        /// The word.
        text: String,
        /// The status, which sets colour and sign.
        status: Status,
    },
    /// A link within the page.
    Link {
        /// The text of the link.
        text: String,
        /// The anchor of a [`Section`](crate::Section) or an [`Entry`](crate::Entry).
        to: String,
    },
    /// Several values in one cell.
    Several(Vec<Cell>),
    /// A value with an identifier below it in small type.
    Named {
        /// The value: a name in words.
        name: Box<Cell>,
        /// The identifier.
        id: String,
    },
    /// No value.
    Missing,
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Text in a monospaced font.
    pub fn code(text: impl Into<String>) -> Self {
        Self::Code(text.into())
    }

    /// A number with this many digits after the point.
    pub fn number(value: f64, digits: u8) -> Self {
        Self::Number { value, digits }
    }

    /// A number with its interval.
    pub fn interval(value: f64, low: f64, high: f64, digits: u8) -> Self {
        Self::Interval {
            value,
            low,
            high,
            digits,
        }
    }

    /// A verdict or a state.
    pub fn badge(text: impl Into<String>, status: Status) -> Self {
        Self::Badge {
            text: text.into(),
            status,
        }
    }

    /// A link within the page.
    pub fn link(text: impl Into<String>, to: impl Into<String>) -> Self {
        Self::Link {
            text: text.into(),
            to: to.into(),
        }
    }

    /// Adds an identifier below the value.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self::Named {
            name: Box::new(self),
            id: id.into(),
        }
    }

    /// Whether the cell is aligned right, like numbers.
    pub(crate) fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Integer(_) | Self::Number { .. } | Self::Interval { .. }
        )
    }

    /// The width that the cell needs, in bytes of text.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Text(text)
            | Self::Code(text)
            | Self::Badge { text, .. }
            | Self::Link { text, .. } => text.len(),
            Self::Several(cells) => cells.iter().map(|cell| cell.length() + 1).sum(),
            Self::Named { name, id } => name.length().max(id.len()),
            _ => 0,
        }
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        Ok(match self {
            Self::Text(words) => html! { bdi { (text::breakable(words, text::CELL)) } },
            Self::Code(code) => html! { code { (text::markup(code, text::CELL)) } },
            Self::Integer(number) => html! { (number) },
            Self::Number { value, digits } => html! { (fixed(*value, *digits)) },
            Self::Interval {
                value,
                low,
                high,
                digits,
            } => html! {
                (fixed(*value, *digits)) " "
                span class="interval" {
                    "[" (fixed(*low, *digits)) ", " (fixed(*high, *digits)) "]"
                }
            },
            Self::Badge { text: word, status } => html! {
                // A verdict is not broken in a narrow column; what is no verdict may be.
                span class={ "badge " (status.class()) @if word.len() <= VERDICT { " whole" } } {
                    span class="sign" aria-hidden="true" { (status.sign()) }
                    bdi { (text::breakable(word, text::TITLE)) }
                }
            },
            Self::Link { text: words, to } => {
                let href = anchors.href(to)?;
                html! { a href=(href) { bdi { (text::breakable(words, text::TITLE)) } } }
            }
            Self::Several(cells) => html! {
                @for (index, cell) in cells.iter().enumerate() {
                    @if index > 0 { " " }
                    (cell.render(anchors)?)
                }
            },
            Self::Named { name, id } => html! {
                (name.render(anchors)?)
                " " small class="id" { code { (text::breakable(id, text::TITLE)) } }
            },
            Self::Missing => html! {
                span class="missing" { span aria-hidden="true" { "–" } span class="visually-hidden" { "none" } }
            },
        })
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Integer(number as i128)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}
