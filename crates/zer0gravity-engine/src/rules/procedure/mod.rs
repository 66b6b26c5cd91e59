//! Instructions carried out without a model: one family of them, by what their text states.
//!
//! The family takes a quoted sentence, counts the letters of each word, multiplies by the word's position, sums, takes
//! a remainder, makes a letter of it and writes letter, colon and the words in reverse. Every value is read from the
//! text. A text that is not understood to the last word is not carried out.

mod answer;
mod instruction;

use std::fmt;

pub use answer::matches_expected;

/// The result of carrying out an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Procedure {
    /// The line that the instruction asks for.
    Answer(String),
    /// The instruction says too little or too much.
    Undetermined {
        /// The missing steps, in order; never empty.
        missing: Vec<Step>,
    },
}

/// A step that an instruction of the family must state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// One sentence in quotes, of words made of letters.
    Sentence,
    /// That each word's letters are counted.
    CountLetters,
    /// That each count is multiplied by the word's position.
    Multiply,
    /// The number of the first position.
    Positions,
    /// That all results are summed; as many as there are words, if it says how many.
    Sum,
    /// A remainder and what is divided by.
    Modulo,
    /// That the remainder becomes a letter, and the number of each letter.
    Letters,
    /// That this letter is written.
    WriteLetter,
    /// A colon after the letter.
    Colon,
    /// The sentence with its words in reverse after the colon.
    ReverseWords,
    /// An understanding of all of the text: it says more, or in another order.
    Rest,
}

impl Step {
    /// As it is written in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::CountLetters => "count_letters",
            Self::Multiply => "multiply",
            Self::Positions => "positions",
            Self::Sum => "sum",
            Self::Modulo => "modulo",
            Self::Letters => "letters",
            Self::WriteLetter => "write_letter",
            Self::Colon => "colon",
            Self::ReverseWords => "reverse_words",
            Self::Rest => "rest",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Carries out `text` if it is an instruction of the family and complete.
///
/// ```
/// use zer0gravity_engine::rules::procedure::{Procedure, Step, run_procedure};
/// let text = "Take the sentence: 'to be'. For each word, count its letters. Multiply each count by the word's \
///     position (1-indexed). Sum the results. Take the sum modulo 5. Convert to a letter where A=0. Write that letter, \
///     then a colon, then the sentence reversed word-by-word.";
/// assert_eq!(run_procedure(text), Procedure::Answer("B:be to".to_owned()));
/// let without = text.replace(" Take the sum modulo 5.", "");
/// assert_eq!(run_procedure(&without), Procedure::Undetermined { missing: vec![Step::Modulo] });
/// ```
pub fn run_procedure(text: &str) -> Procedure {
    match instruction::read(text).and_then(|instruction| instruction.carry_out()) {
        Ok(answer) => Procedure::Answer(answer),
        Err(missing) => Procedure::Undetermined { missing },
    }
}
