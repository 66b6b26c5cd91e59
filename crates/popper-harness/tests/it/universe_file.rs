//! U3 and U4: the pages `docs/universe.md` and `docs/universe-format.md` are what the program does.

use popper_harness::universe::Tabulated;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

fn page(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}docs/{name}.md")).unwrap()
}

/// The fenced blocks of a text with their languages, in order.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = text.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside
        .map(|block| block.split_once('\n').unwrap())
        .collect()
}

#[test]
fn u3_every_row_has_a_good_and_a_bad_example_that_read_as_documented() {
    let page = page("universe-format");
    let (_, file) = page.split_once("## The file\n").unwrap();
    let (table, sections) = file.split_once("\n### ").unwrap();
    let keys = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let keys: Vec<&str> = keys.map(|line| line.split('`').next().unwrap()).collect();
    let sections: Vec<(&str, &str)> = sections
        .split("\n### ")
        .map(|section| section.split_once('\n').unwrap())
        .collect();
    assert_eq!(
        keys,
        sections.iter().map(|(key, _)| *key).collect::<Vec<_>>()
    );
    assert_eq!(keys.len(), 10);
    for (key, section) in sections {
        let (mut good, mut bad) = (0, 0);
        let blocks = blocks(section);
        for (index, (language, text)) in blocks.iter().enumerate() {
            if *language != "json" {
                continue;
            }
            let read = Tabulated::from_json(text);
            if let Some(("text", line)) = blocks.get(index + 1) {
                assert_eq!(read.unwrap_err().to_string(), line.trim_end(), "{text}");
                bad += 1;
            } else {
                let universe = read.unwrap_or_else(|error| panic!("{error}: {text}"));
                let again = serde_json::to_string(&universe.definition()).unwrap();
                assert_eq!(Tabulated::from_json(&again).unwrap(), universe);
                good += 1;
            }
        }
        assert!(good > 0 && bad > 0, "{key}: {good} good, {bad} bad");
    }
}

#[test]
fn u4_the_example_of_the_page_is_the_doc_test() {
    let page = page("universe");
    let example = blocks(&page)
        .into_iter()
        .rfind(|(language, _)| *language == "rust");
    let source = std::fs::read_to_string(format!(
        "{}/src/universe/mod.rs",
        env!("CARGO_MANIFEST_DIR")
    ));
    let source = source.unwrap();
    let (_, doc) = source.split_once("/// ```\n").unwrap();
    let (doc, _) = doc.split_once("/// # Ok::<").unwrap();
    let doc: String = doc
        .lines()
        .map(|line| {
            line.trim_start_matches("///")
                .strip_prefix(' ')
                .unwrap_or_default()
        })
        .fold(String::new(), |all, line| all + line + "\n");
    assert_eq!(example.unwrap().1, doc);
}
