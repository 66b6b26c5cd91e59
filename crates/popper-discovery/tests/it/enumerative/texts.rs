//! The first laws that a reader sees.

use popper_harness::universe::KineticGrid;

use super::{Order, hasty, line, story};

fn page(turn: &(popper_discovery::Snapshot, Vec<serde_json::Value>)) -> String {
    let lines: Vec<String> = turn.1.iter().map(line).collect();
    lines.join("\n")
}

#[test]
fn the_first_laws_show_most_of_the_language() {
    let story = story(KineticGrid, hasty(), 0, Order::Proposed, 3);
    insta::assert_snapshot!("before_anything_is_known", page(&story.turns[0]));
    insta::assert_snapshot!("after_ten_tests", page(&story.turns[1]));
    insta::assert_snapshot!("after_twenty_tests", page(&story.turns[2]));
    let whole: Vec<String> = story.turns[2].1[..4]
        .iter()
        .map(|law| serde_json::to_string_pretty(law).unwrap())
        .collect();
    insta::assert_snapshot!("as_laws", whole.join("\n"));
}
