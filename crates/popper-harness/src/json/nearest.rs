//! The known word that was probably meant.

/// Returns the known word nearest to an unknown one: at most two edits away, or with a part between `_` equal to it.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let rank = |candidate: &&'a str| {
        if candidate.split('_').any(|part| part == word) {
            return Some(1);
        }
        // Two edits turn any short word into any other.
        let edits = strsim::levenshtein(word, candidate);
        (edits <= 2 && edits < length).then_some(edits)
    };
    let ranked = known
        .into_iter()
        .filter_map(|word| Some((rank(&word)?, word)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, word)| word)
}

/// Returns `; did you mean ...?`, or an empty text.
pub(crate) fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_two_edits_or_a_part() {
        let known = ["law_id", "claim", "forbidden", "count"];
        for (word, meant) in [
            ("id", Some("law_id")),
            ("clam", Some("claim")),
            ("cuont", Some("count")),
            ("forbiden", Some("forbidden")),
            ("momentum", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
