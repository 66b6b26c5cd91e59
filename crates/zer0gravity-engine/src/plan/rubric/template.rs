/// Replaces `{NAME}` of each name by its text, in one pass: what a text contains is not replaced.
pub(crate) fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let text = texts.iter().find_map(|(name, text)| {
            let after = rest[1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((*text, after))
        });
        let (text, after) = text.unwrap_or_else(|| rest.split_at(1));
        filled.push_str(text);
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_filled_once_and_other_braces_stay() {
        let texts = [("decoded", "{original}"), ("original", "o")];
        let template = r#"{"score": 1} {decoded} {original} {other} {{decoded}"#;
        let filled = r#"{"score": 1} {original} o {other} {{original}"#;
        assert_eq!(fill(template, &texts), filled);
        assert_eq!(fill("{", &texts), "{");
    }
}
