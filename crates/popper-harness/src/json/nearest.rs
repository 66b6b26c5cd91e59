//! The word that was probably meant.

/// The known word nearest to one that is not known: by at most two edits of the word, or a part of a known word between `_`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let rank = |candidate: &&'a str| {
        if candidate.split('_').any(|part| part == word) {
            return Some(1);
        }
        // Two edits turn any short word into any other.
        let edits = distance(word, candidate);
        (edits <= 2 && edits < length).then_some(edits)
    };
    let ranked = known
        .into_iter()
        .filter_map(|word| Some((rank(&word)?, word)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, word)| word)
}

/// `; did you mean ...?`, or nothing.
pub(crate) fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The number of characters to insert, remove or replace.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(char != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
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
