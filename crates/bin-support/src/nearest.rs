//! Names that the user may have meant.

/// The most edits between a short word and a name that is proposed for it. With more, names of three letters are near to any word.
pub(crate) const EDITS: usize = 2;

/// The most names that are proposed.
const PROPOSED: usize = 3;

/// Returns the names nearest to a word that names nothing: at most three, the nearest first.
///
/// A name is near with at most two edits, or one for three letters of a longer word.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let most = EDITS.max(word.chars().count() / 3);
    let edits = |name: &'a str| (strsim::levenshtein(word, name), name);
    let mut near: Vec<_> = names.into_iter().map(edits).collect();
    near.retain(|(edits, _)| *edits <= most);
    near.sort_unstable();
    near.dedup();
    near.truncate(PROPOSED);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_by_few_edits() {
        assert_eq!(
            nearest("lawid", ["id", "law_id", "law_ids"]),
            ["law_id", "law_ids"]
        );
        assert_eq!(nearest("redo", ["read"]), ["read"]);
        assert!(nearest("man", ["conserved", "new"]).is_empty());
    }
}
