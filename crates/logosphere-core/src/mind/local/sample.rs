//! The texts of a prompt, cut out of it again.

use llm_types::ErrorClass;

use super::super::MindError;
use crate::format::{SEPARATOR, SystemPrompt, is_blank, without_stamp};

/// The sampled texts of a prompt, byte for byte, in its order.
pub(super) fn sampled<'a>(
    prompt: &'a str,
    system: &SystemPrompt,
) -> Result<Vec<&'a str>, MindError> {
    let rest = (prompt.strip_prefix(system.text())).ok_or_else(|| {
        let message =
            "the prompt does not begin with the system prompt that this mind was made for";
        MindError::new(ErrorClass::BadRequest, message).fatal()
    })?;
    // No text of a pool is blank or holds a line `---`, so no separator can overlap another.
    Ok(rest.split(SEPARATOR).skip(1).collect())
}

/// A text as somebody else would pass it on: without its stamp. A stamp that is all there is stays.
pub(super) fn unsigned(text: &str) -> &str {
    match without_stamp(text) {
        rest if is_blank(rest) => text,
        rest => rest,
    }
}
