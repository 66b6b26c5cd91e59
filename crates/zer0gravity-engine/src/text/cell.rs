/// A text as a cell of CSV that no spreadsheet takes for a formula: one that begins with `=`, `+`, `-`, `@`, a tab or a line's end, also after
/// apostrophes, gets an apostrophe before it.
pub(crate) fn inert(text: &str) -> String {
    let rest = text.trim_start_matches('\'');
    if rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
