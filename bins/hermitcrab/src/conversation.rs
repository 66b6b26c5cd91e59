//! A conversation as text.

use std::io::{self, Write};

use hermitcrab_kernel::conversation::{Author, DisplayedMessage};

use crate::answer::readable;

/// Writes what was said, a paragraph each.
pub fn write(said: &[DisplayedMessage], out: &mut dyn Write) -> io::Result<()> {
    for said in said {
        let who = match said.by {
            Author::Person => "you".to_owned(),
            Author::Model => "hermitcrab".to_owned(),
            by => by.to_string(),
        };
        writeln!(out, "{who}: {}\n", readable(&said.text))?;
    }
    Ok(())
}
