//! The picture of a lineage.

use std::collections::BTreeSet;

use logosphere_core::Transcript;
use logosphere_core::export::{ExportFormat, ExportKind, export};
use logosphere_core::measures::lineage::{Lineage, Method, TextTree};
use logosphere_core::pool::MessageId;
use scraper::Html;
use test_support::page::{found, texts};

use crate::population;
use crate::report::{html, journal};
use crate::scripted_run::ScriptedRun;

/// The most nodes of the tree in a picture.
const MOST: usize = 200;

fn svg(run: &Transcript) -> String {
    let mut out = Vec::new();
    let format = ExportFormat::Svg;
    export(run, ExportKind::Lineage, format, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn tree(run: &Transcript, most: usize) -> TextTree {
    let lineage = Lineage::of(run);
    lineage.text_tree(run, lineage.largest_roots(1)[0], most)
}

/// Seed 0 is copied twice and changed; the change is passed on twice as a line and then branches. Seed 1 is read once.
fn family() -> Transcript {
    let (seed, first) = ("a b c d e f", "a b c d e x");
    ScriptedRun::new(50, &[seed, "other words of no use"])
        .round(&[(&[0], &[seed, seed, first])]) // 2, 3, 4
        .round(&[(&[4], &["a b c d y x"])]) // 5
        .round(&[(&[5], &["a b c z y x"])]) // 6
        .round(&[(&[6], &["a b w z y x"]), (&[6], &["a v c z y x"])]) // 7, 8
        .round(&[(&[1], &["other words of some use"])]) // 9
        .round(&[(&[3], &["A b, c d e f"])]) // 10
        .0
}

#[test]
fn a_node_is_an_equal_text_and_a_line_stands_for_single_ones() {
    let run = family();
    let tree = tree(&run, MOST);
    let nodes = tree.nodes.iter();
    let nodes: Vec<_> = nodes
        .map(|node| {
            let MessageId(id) = node.id;
            (id, node.round.0, node.parent, node.messages, node.passed)
        })
        .collect();
    // Messages 4 and 5 are the line to 6.
    let expected = [
        (0, 0, None, 1, 0),
        (2, 1, Some(0), 2, 0),
        (10, 6, Some(1), 1, 0),
        (6, 3, Some(0), 1, 2),
        (7, 4, Some(3), 1, 0),
        (8, 4, Some(3), 1, 0),
    ];
    assert_eq!(nodes, expected);
    let methods: Vec<_> = tree.nodes.iter().map(|node| node.method).collect();
    let (exact, lcs) = (Some(Method::Exact), Some(Method::Lcs));
    assert_eq!(methods, [None, exact, exact, lcs, lcs, lcs]);
    assert_eq!(tree.folded, 0);
}

#[test]
fn nodes_with_fewest_messages_are_folded_first_and_counted() {
    let run = family();
    let folded = |most| {
        let tree = tree(&run, most);
        let nodes = tree.nodes.iter().map(|node| (node.id.0, node.folded));
        (nodes.collect::<Vec<_>>(), tree.folded)
    };
    assert_eq!(folded(5), (vec![(0, 0), (2, 1), (6, 0), (7, 0), (8, 0)], 1));
    assert_eq!(folded(3), (vec![(0, 0), (2, 1), (6, 2)], 3));
    assert_eq!(folded(1), (vec![(0, 8)], 5));
    assert_eq!(folded(0), folded(1));
}

#[test]
fn every_message_of_the_root_is_in_a_node_on_a_line_or_folded() {
    for (mind, seed) in [
        ("mutator:p=0.1", 1),
        ("copier:mu=0.05", 2),
        ("mutator:p=0.3", 3),
    ] {
        let run = population::run(
            &population::settings(mind, 8, 15, 60, seed),
            &population::built_in(),
        );
        let lineage = Lineage::of(&run);
        let root = lineage.largest_roots(1)[0];
        let all = lineage.nodes()[root.index()].descendants as usize + 1;
        for most in [1, 20, MOST] {
            let tree = lineage.text_tree(&run, root, most);
            let parts = tree.nodes.iter();
            let counted: usize = parts.map(|it| it.messages + it.passed + it.folded).sum();
            assert_eq!(counted, all, "{mind} {most}");
            assert!(tree.nodes.len() <= most && tree.nodes[0].id == root);
            // Parents come first, and are not younger.
            for (place, node) in tree.nodes.iter().enumerate().skip(1) {
                let parent = node.parent.unwrap();
                assert!(parent < place && tree.nodes[parent].round <= node.round);
            }
        }
        let tree = lineage.text_tree(&run, root, MOST);
        let svg = Html::parse_document(&svg(&run));
        assert_eq!(found(&svg, "circle").len(), tree.nodes.len());
        assert_eq!(found(&svg, "path.edge").len(), tree.nodes.len() - 1);
        let dashed = tree
            .nodes
            .iter()
            .filter(|node| node.method == Some(Method::Lcs));
        assert_eq!(found(&svg, "path.edge.dashed").len(), dashed.count());
        assert_eq!(found(&svg, "g > title").len(), tree.nodes.len());
    }
}

#[test]
fn the_page_has_the_picture_with_a_table_below() {
    let journal = journal("mutator:p=0.1", 30);
    let page = Html::parse_document(&html(&journal, 0));
    let run = Transcript::read(&journal[..]).unwrap();
    let tree = tree(&run, MOST);
    let nodes = tree.nodes.len();
    assert_eq!(found(&page, "#at-lineage figure.tree circle").len(), nodes);
    assert_eq!(
        found(&page, "#at-lineage figure.tree path.edge").len(),
        nodes - 1
    );
    let rows = "#at-lineage section section table tbody tr, #at-lineage details table tbody tr";
    let first: Vec<_> = texts(&page, rows);
    assert!(first.iter().filter(|row| !row.is_empty()).count() >= nodes);
    let roots = found(&page, "#at-lineage figure path.area").len();
    assert!((2..=12).contains(&roots), "{roots}");
}

#[test]
fn shares_of_roots_are_those_of_the_window_and_sum_to_one() {
    let settings = population::settings("copier:mu=0.3", 8, 15, 40, 5);
    let run = population::run(&settings, &population::built_in());
    let lineage = Lineage::of(&run);
    let roots = lineage.largest_roots(11);
    assert_eq!(roots.len(), 11);
    let size = |root: &MessageId| lineage.nodes()[root.index()].descendants;
    assert!(roots.is_sorted_by(|a, b| size(a) >= size(b)));
    let curves = lineage.root_curves(&roots);
    for (round, ended) in run.rounds.iter().enumerate() {
        let window = ended.pool_size.saturating_sub(run.active)..ended.pool_size;
        for (root, curve) in roots.iter().zip(&curves) {
            let of_root = window
                .clone()
                .filter(|id| lineage.nodes()[*id].root == *root);
            let share = of_root.count() as f64 / window.len() as f64;
            assert!((curve[round + 1].unwrap() - share).abs() < 1e-12);
        }
    }
    let page = svg(&run);
    assert!(page.contains(">others</text>"), "{page}");
    assert_eq!(
        Html::parse_document(&page)
            .html()
            .matches("<path class=\"area")
            .count(),
        12
    );
}

#[test]
fn ten_thousand_messages_take_at_most_300_kb_and_the_same_bytes_each_time() {
    let settings = population::settings("mutator:p=0.1", 20, 30, 500, 7);
    let run = population::run(&settings, &population::built_in());
    assert!(run.messages.len() > 10_000);
    let picture = svg(&run);
    assert!(picture.len() <= 300_000, "{}", picture.len());
    assert_eq!(picture, svg(&run));
    let caption = texts(&Html::parse_document(&picture), "text.name").concat();
    assert!(
        caption.contains("folded, + counts their messages"),
        "{caption}"
    );
}

#[test]
fn hostile_texts_are_character_data_and_even_long_ones_fit() {
    let hostile = "<script>alert(1)</script><a href='https://example.org'>\u{202e}\u{0}]]>&\"'";
    let mut run = ScriptedRun::new(500, &[hostile]);
    for round in 0..300_u64 {
        let text = format!("{hostile} {} {round}", "\u{202e}<>&\"".repeat(100));
        run = run.round(&[(&[0], &[&*text])]);
    }
    let picture = svg(&run.0);
    assert!(picture.len() <= 300_000, "{}", picture.len());
    assert!(!picture.contains("<script") && !picture.contains(['\u{202e}', '\0']));
    assert!(picture.contains("&lt;script&gt;alert(1)"));
    let parsed = Html::parse_document(&picture);
    let names: BTreeSet<_> = found(&parsed, "svg, svg *")
        .iter()
        .map(|element| element.value().name().to_owned())
        .collect();
    let known = "circle desc g line path rect style svg text title";
    assert_eq!(names.into_iter().collect::<Vec<_>>().join(" "), known);
    // No reference leaves the file: its attributes have no address, and its style none either.
    for element in found(&parsed, "svg, svg *") {
        for (name, value) in element.value().attrs() {
            let is_reference = name.contains("href") || name.starts_with("on") || name == "src";
            assert!(!is_reference && !value.contains("url("), "{name}={value}");
        }
    }
    let style = texts(&parsed, "style").concat();
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn a_run_without_messages_has_a_picture_that_says_so() {
    let picture = svg(&Transcript::default());
    assert!(picture.contains("There is nothing to draw."), "{picture}");
}
