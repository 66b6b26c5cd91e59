//! A12, and section 7: blocks as text for a model.

use proptest::prelude::*;
use pscale_blocks::layer::{DetailLevel, Layer, Suffix, aperture, render_outline};
use pscale_blocks::{Block, BlockName, Heuristic, O200k, Path, TokenCounter};

use crate::random;

fn name() -> BlockName {
    "memory".parse().unwrap()
}

fn outline(block: &Block, depth: DetailLevel, budget: usize) -> Layer {
    render_outline(block, &name(), depth, budget, &O200k, &|_| String::new())
}

fn keeper() -> Block {
    let json = serde_json::json!({"decimal": 2, "tree": {"0": {
        "_": "Ledger of a lighthouse keeper.",
        "1": {"_": "Nine quiet nights.", "1": "Lamp oil delivered.", "2": "A gull nested in the gallery."},
        "2": {"1": "Storm.\nTwo ships signalled.", "3": {"1": "The Alder, safe."}}
    }}});
    Block::parse(&json.to_string()).unwrap()
}

#[test]
fn outline_shows_a_line_for_each_node() {
    let at = |depth| outline(&keeper(), depth, 500).text;
    assert_eq!(
        at(DetailLevel::Full),
        "== block memory (decimal 2)\n\
         0 Ledger of a lighthouse keeper.\n\
         0.1 Nine quiet nights.\n\
         0.1.1 Lamp oil delivered.\n\
         0.1.2 A gull nested in the gallery.\n\
         0.2\n\
         0.2.1 Storm.\n  Two ships signalled.\n\
         0.2.3\n\
         0.2.3.1 The Alder, safe.\n"
    );
    assert_eq!(
        at(DetailLevel::Levels(1)),
        "== block memory (decimal 2)\n0 Ledger of a lighthouse keeper.\n0.1 Nine quiet nights.\n0.2\n"
    );
    assert_eq!(at(DetailLevel::Levels(0)), at(DetailLevel::HeadOnly));
    assert_eq!(
        at(DetailLevel::HeadOnly),
        "== block memory (decimal 2)\n0 Ledger of a lighthouse keeper.\n"
    );
}

#[test]
fn longest_texts_are_cut_and_say_where_to_read_on() {
    let mut block = keeper();
    block
        .write(&"0.1.2".parse().unwrap(), &"many words ".repeat(40))
        .unwrap();
    let layer = outline(&block, DetailLevel::Full, 110);
    assert_eq!(layer.cut, 1);
    insta::assert_snapshot!("outline_cut", layer.text);
}

#[test]
fn memory_of_thousands_is_a_few_lines() {
    let layer = aperture(&random::memory(7000), &name(), 250, &O200k, &|_| {
        String::new()
    });
    assert_eq!((layer.tokens <= 250, layer.cut), (true, 0));
    insta::assert_snapshot!("aperture_of_7000", layer.text);
}

#[test]
fn budgets_from_nothing_to_all() {
    let block = random::memory(100);
    for counter in [&O200k as &dyn TokenCounter, &Heuristic] {
        for budget in 0..400 {
            for layer in layers(&block, budget, counter) {
                assert_eq!(layer.tokens, counter.count(&layer.text));
                assert!(layer.tokens <= budget, "{budget}: {}", layer.text);
            }
        }
    }
}

/// The block in every form.
fn layers(block: &Block, budget: usize, counter: &dyn TokenCounter) -> [Layer; 4] {
    layers_with(block, budget, counter, &|_| String::new())
}

fn layers_with(
    block: &Block,
    budget: usize,
    counter: &dyn TokenCounter,
    suffix: &Suffix<'_>,
) -> [Layer; 4] {
    let outline = |depth| render_outline(block, &name(), depth, budget, counter, suffix);
    [
        aperture(block, &name(), budget, counter, suffix),
        outline(DetailLevel::Full),
        outline(DetailLevel::Levels(1)),
        outline(DetailLevel::HeadOnly),
    ]
}

/// The suffix counts in the line, and a text that is cut keeps it.
#[test]
fn a_suffix_survives_the_cut() {
    let mut block = random::memory(100);
    let long: Path = "0.1".parse().unwrap();
    block.write(&long, &"many words ".repeat(400)).unwrap();
    let suffix = |path: Path| {
        if path == long {
            " (lost 2: 0.1.3)\n== block".to_owned()
        } else {
            String::new()
        }
    };
    for budget in 0..400 {
        for (place, layer) in layers_with(&block, budget, &O200k, &suffix)
            .into_iter()
            .enumerate()
        {
            assert!(layer.tokens <= budget, "{budget}: {}", layer.text);
            check_lines(&block, &layer);
            let mut lines = layer
                .text
                .lines()
                .skip_while(|line| !line.starts_with("0.1 "));
            if let Some(line) = lines.next() {
                let (text, end) = line.split_once(" … read memory 0.1").unwrap();
                assert_eq!(end, " (lost 2: 0.1.3)");
                assert_eq!(lines.next(), Some("  == block"));
                // The aperture has at most 60 tokens of a text.
                let tokens = O200k.count(text) + O200k.count(end);
                assert!(place > 0 || tokens < 70, "{line}");
            }
        }
    }
    let shown = aperture(&block, &name(), 400, &O200k, &suffix).text;
    assert!(shown.contains(" (lost 2: 0.1.3)\n"), "{shown}");
    // A node without a text has one, too.
    let outline = render_outline(
        &keeper(),
        &name(),
        DetailLevel::Full,
        400,
        &O200k,
        &|path| {
            if path.depth() == 2 {
                " ~web".to_owned()
            } else {
                String::new()
            }
        },
    );
    assert!(outline.text.contains("\n0.2 ~web\n"), "{}", outline.text);
}

#[test]
fn no_room_for_the_frame_is_an_empty_layer() {
    for budget in 0..10 {
        for layer in layers(&keeper(), budget, &O200k) {
            assert_eq!((layer.text.as_str(), layer.tokens, layer.cut), ("", 0, 0));
        }
    }
}

#[test]
fn head_keeps_24_tokens_whatever_stands_below() {
    let mut block = Block::new("the head has many words ".repeat(20));
    for _ in 0..9 {
        let text = "an entry of quite a few words ".repeat(20);
        random::append(&mut block, &text, str::to_owned);
    }
    for budget in [60, 100, 200] {
        let [_, layer, ..] = layers(&block, budget, &O200k);
        let head = layer.text.lines().nth(1).unwrap();
        let (text, _) = head.split_once(" … read memory 0").unwrap();
        assert!(O200k.count(text) >= 24, "{head}");
        assert!(layer.cut > 0);
    }
    // A budget for the head alone is used for the head.
    let layer = outline(&block, DetailLevel::HeadOnly, 62);
    assert!((59..=62).contains(&layer.tokens), "{}", layer.tokens);
}

#[test]
fn texts_without_spaces_are_cut_between_letters() {
    let block = Block::new("灯台守の記録".repeat(100));
    let layer = outline(&block, DetailLevel::HeadOnly, 60);
    assert!((55..=60).contains(&layer.tokens), "{}", layer.tokens);
    assert!(layer.text.ends_with(" … read memory 0\n"));
}

#[test]
fn small_memory_is_shown_whole_and_a_line_says_what_is_not() {
    let mut block = Block::new("The memory of Kelp.");
    for number in 1..=3 {
        random::append(&mut block, &format!("Day {number}."), str::to_owned);
    }
    let shown = |block: &Block| aperture(block, &name(), 250, &O200k, &|_| String::new()).text;
    assert_eq!(
        shown(&block),
        "== block memory (decimal 1)\n0 The memory of Kelp.\n0.1 Day 1.\n0.2 Day 2.\n0.3 Day 3.\n"
    );
    random::append(&mut block, "Day 4.", str::to_owned);
    assert_eq!(
        shown(&block),
        "== block memory (decimal 1)\n0 The memory of Kelp.\n0.2 Day 2.\n0.3 Day 3.\n0.4 Day 4.\n(+1 more in memory)\n"
    );
    // The product of compression of the nine before.
    block
        .write(&"0.0".parse().unwrap(), "Nine quiet days.")
        .unwrap();
    assert!(shown(&block).contains("\n0.0 Nine quiet days.\n0.2 Day 2.\n"));
}

/// Checks the lines: whatever a text contains, they name nodes of the block in order.
fn check_lines(block: &Block, layer: &Layer) {
    if layer.text.is_empty() {
        return;
    }
    // As cautious as the most eager reader.
    let breaks = |letter: char| {
        matches!(
            letter,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let body = layer.text.strip_suffix('\n').unwrap();
    let mut lines = body.split(breaks);
    assert_eq!(
        lines.next().unwrap(),
        format!("== block memory (decimal {})", block.decimal())
    );
    let mut before = None;
    for line in lines {
        let path = if line.starts_with("  ")
            || (line.starts_with("(+") && line.ends_with(" more in memory)"))
        {
            continue;
        } else if line.starts_with(' ') {
            // Only the tree itself has no digits.
            Path::root()
        } else {
            let first = line.split(' ').next().unwrap();
            first
                .parse()
                .unwrap_or_else(|_| panic!("{line:?} in {:?}", layer.text))
        };
        assert!(Some(path) > before, "{line:?} in {:?}", layer.text);
        assert!(block.view(&path).is_ok(), "{line:?} in {:?}", layer.text);
        before = Some(path);
    }
}

proptest! {
    #[test]
    fn no_text_imitates_a_frame(block in random::block(), budget in 0..300_usize) {
        let ours = layers(&block, budget, &O200k);
        for layer in &ours {
            prop_assert!(layer.tokens <= budget);
            prop_assert_eq!(layer.tokens, O200k.count(&layer.text));
            check_lines(&block, layer);
        }
        // The same block, read from its file, makes the same bytes.
        let again = Block::parse(&block.to_file()).unwrap();
        prop_assert_eq!(&ours, &layers(&again, budget, &O200k));
    }
}
