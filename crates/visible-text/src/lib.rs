//! The characters that a reader does not see: ignorable, format, direction and line separators.
//!
//! Each function is one property of Unicode 17, and [`is_invisible`] one without what ordinary text needs. A caller combines
//! those that matter where its text goes: to a terminal, a page, a file name or a model.
//!
//! ```
//! use visible_text::{is_direction_control, is_format, is_ignorable, is_invisible, is_line_separator};
//!
//! // A zero-width space is drawn as nothing; a right-to-left override turns the order of the text.
//! assert!(is_ignorable('\u{200b}') && is_format('\u{200b}'));
//! assert!(is_direction_control('\u{202e}'));
//! assert!(is_line_separator('\u{2028}'));
//! // A variation selector is ignorable, an Arabic number sign is a visible format character.
//! assert!(is_ignorable('\u{fe0f}') && !is_format('\u{fe0f}'));
//! // A soft hyphen hides itself alone; emoji need the selector.
//! assert!(is_invisible('\u{ad}') && !is_invisible('\u{fe0f}'));
//! assert!(is_format('\u{600}') && !is_ignorable('\u{600}'));
//! ```
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod property;

pub use property::{
    is_direction_control, is_format, is_ignorable, is_invisible, is_line_separator,
};
