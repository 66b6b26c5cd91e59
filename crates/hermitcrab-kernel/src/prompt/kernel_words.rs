//! The kernel's own requests to the model, in the place of the person's words.

pub(crate) const ANSWER: &str =
    "[The token limit was reached before your answer began. Answer in a few words.]";
pub(crate) const SMALLER: &str = "[The component was cut off at the token limit. Send a smaller one with recompile, or \
                                  change the running one with patch_source.]";
pub(crate) const GO_ON: &str =
    "[Your answer was cut off at the token limit. Go on exactly where it stopped.]";
pub(crate) const SENTENCE: &str = "[Say to the person in one sentence what you did.]";
pub(crate) const COMPONENT: &str =
    "[No face is running. Answer with one component in a jsx fence.]";
/// The beginning of a request to fix a shell; its errors follow.
pub(crate) const REPAIR: &str = "[Your component did not become the face: ";

/// Whether these words are a request of the kernel, as records without authors have it.
pub(crate) fn is_kernel_request(text: &str) -> bool {
    let whole = [
        super::system::BOOT_MESSAGE,
        ANSWER,
        SMALLER,
        GO_ON,
        SENTENCE,
        COMPONENT,
    ];
    whole.contains(&text) || text.starts_with(REPAIR)
}

/// The beginning of each line about the face for the model.
pub(crate) const FROM_FACE: &str = "[From the face, not from the person: ";
