//! Nine memories, and a tenth that needs a summary: the block grows, and the model receives the summary.

use crate::program::Place;

const DAYS: [&str; 10] = [
    "the keel is laid, on oak",
    "the frames stand: eleven of them",
    "the planks came. All larch",
    "rain; no work",
    "the first strake is on",
    "the second strake is on",
    "a knot was cut out, and a patch set",
    "caulked the garboard",
    "the mast step is in",
    "the deck is begun",
];

fn remember(place: &Place, days: &[&str]) -> String {
    let lines = format!("remember: {}\n", days.join("\nremember: "));
    place.fed(lines.as_bytes(), &["chat"]).exits(0).stdout
}

#[test]
fn the_tenth_memory_asks_for_a_summary_and_the_aperture_shows_it() {
    let place = Place::new();
    let told = remember(&place, &DAYS[..9]);
    for at in 1..=9 {
        assert!(told.contains(&format!("Remembered at 0.{at}.")), "{told}");
    }
    let before = place.json(&["block", "list"]);
    let memory = |list: &serde_json::Value| {
        let blocks = list["blocks"].as_array().unwrap().clone();
        (blocks.into_iter())
            .find(|row| row["name"] == "memory")
            .unwrap()
    };
    assert_eq!(memory(&before)["decimal"], 1);

    // The next start has nine, and the tenth is asked for a summary in the same turn.
    let told = remember(&place, &DAYS[9..]);
    assert!(told.contains("Remembered at 0.2.1."), "{told}");
    assert_eq!(memory(&place.json(&["block", "list"]))["decimal"], 2);

    // Every entry is where its address says, and the head stayed.
    for (at, day) in DAYS.iter().enumerate() {
        let path = format!("0.{}.{}", at / 9 + 1, at % 9 + 1);
        let node = place.json(&["block", "read", "memory", &path]);
        assert!(node.to_string().contains(day), "{path}: {node}");
    }
    let shown = place.run(&["prompt", "--phase", "call"]).exits(0).stdout;
    let aperture = shown.split_once("== block memory").unwrap().1;
    let aperture = aperture.split("\n[").next().unwrap();
    assert!(aperture.contains("0 Memory of"), "{aperture}");
    // The first clauses of nine entries, which the offline script joins.
    let clauses = "the keel is laid; the frames stand; the planks came; rain";
    assert!(aperture.contains(clauses), "{aperture}");
    assert!(!aperture.contains("eleven of them"), "{aperture}");
    place
        .run(&["prompt", "--phase", "call", "--tokens"])
        .exits(0);

    // Growing was one edit: it can be taken back, and made again.
    for (step, decimal) in [("undo", 1), ("redo", 2), ("undo", 1)] {
        place.run(&["block", step, "memory"]).exits(0);
        let listed = place.json(&["block", "list"]);
        assert_eq!(memory(&listed)["decimal"], decimal);
    }
    let told = remember(&place, &["again"]);
    assert!(told.contains("Remembered at 0.2.1."), "{told}");
}
