//! `docs/popper.md` shows what the binary really prints.

use crate::process::{file, popper};

/// The blocks of a language, in order.
fn blocks<'a>(guide: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let parts = guide.split(begin.as_str()).skip(1);
    parts.filter_map(|part| part.split("```").next()).collect()
}

#[test]
fn the_guide_shows_real_output() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let guide = std::fs::read_to_string(format!("{root}docs/popper.md")).unwrap();
    let laws = file("my_laws.json", blocks(&guide, "json")[0]);
    let shown = blocks(&guide, "text");
    assert_eq!(popper(&["check", &laws]).stdout, shown[0]);
    let verdicts = file("verdicts.json", popper(&["check", "--json", &laws]).stdout);
    let again = popper(&["replay", &verdicts]).stdout + &popper(&["verify", &verdicts]).stdout;
    assert_eq!(again, shown[1]);
}
