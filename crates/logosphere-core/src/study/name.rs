/// Whether a text is the name of a sweep or a fork, and so of its folder: 1 to 64 of `a-z`, `0-9`, point, `_` and `-`, without a
/// point at the start.
pub fn is_study_name(name: &str) -> bool {
    let is_plain = |char: char| matches!(char, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.')
}
