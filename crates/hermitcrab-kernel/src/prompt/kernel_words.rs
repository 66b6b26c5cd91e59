//! What the kernel says to the model in the person's place.

pub(crate) const ANSWER: &str =
    "[The token limit was reached before your answer began. Answer in a few words.]";
pub(crate) const SMALLER: &str = "[The component was cut off at the token limit. Send a smaller one with recompile, or \
                                  change the running one with patch_source.]";
pub(crate) const GO_ON: &str =
    "[Your answer was cut off at the token limit. Go on exactly where it stopped.]";
pub(crate) const SENTENCE: &str = "[Say to the person in one sentence what you did.]";
pub(crate) const COMPONENT: &str =
    "[No face is running. Answer with one component in a jsx fence.]";
/// What is wrong follows.
pub(crate) const MEND: &str = "[Your component did not become the face: ";

/// Whether these are words of the kernel's, and no person's.
pub(crate) fn is_kernel_request(text: &str) -> bool {
    let whole = [
        super::BOOT_MESSAGE,
        ANSWER,
        SMALLER,
        GO_ON,
        SENTENCE,
        COMPONENT,
    ];
    whole.contains(&text) || text.starts_with(MEND)
}

/// How each line begins for the model.
pub(crate) const FROM_FACE: &str = "[From the face, not from the person: ";
