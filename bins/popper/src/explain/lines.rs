//! Lines of a given width.

use textwrap::{Options, WordSeparator, WrapAlgorithm};

/// Returns paragraphs with lines of at most `width` columns. A text of others in them is escaped.
pub fn wrapped(paragraphs: &[String], width: usize) -> String {
    let lines = paragraphs.iter().flat_map(|paragraph| {
        let is_indented = paragraph.starts_with(' ');
        let indent = if is_indented { "    " } else { "" };
        // The defaults depend on the features with which other packages use the library.
        let options = Options::new(width)
            .subsequent_indent(indent)
            .word_separator(WordSeparator::AsciiSpace)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        let paragraph = bin_support::escape(paragraph);
        textwrap::wrap(&paragraph, &options)
            .into_iter()
            .map(|line| line.into_owned() + "\n")
            .collect::<Vec<_>>()
    });
    lines.collect()
}
