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

/// A receipt is a line on stderr when the summary is written, and a list at any time after.
#[test]
fn receipts_of_summaries() {
    let days: Vec<_> = (1..=9)
        .map(|day| format!("We paid {day}00 euros for it."))
        .collect();
    let days: Vec<_> = days.iter().map(String::as_str).collect();
    let place = Place::with_block("notes", "What we paid.", &days);
    let none = place
        .run(&["memory", "audit", "notes", "--fail-on-added"])
        .exits(0);
    none.tells(&["notes has no summaries yet"]);

    let summary = "We paid from 100 to 900 euros for it, as Grace said.";
    let append = [
        "block",
        "append",
        "notes",
        "The tenth day.",
        "--summary",
        summary,
    ];
    let ran = place.run(&append).exits(0);
    ran.tells(&["summary 0.1: kept 2, lost 7 (0.1.2 0.1.3 0.1.4 +4), added 1"]);

    let ran = place.run(&["memory", "audit", "notes"]).exits(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 9, "{}", ran.stdout);
    assert_eq!(
        lines[0],
        "0.1  kept 2, lost 7 (0.1.2 0.1.3 0.1.4 +4), added 1"
    );
    assert_eq!(lines[1], "  lost   number      200 euros  0.1.2");
    assert_eq!(lines[8], "  added  name        Grace");
    place
        .run(&["memory", "audit", "notes", "--fail-on-added"])
        .exits(4);
    let document = place.json(&["memory", "audit", "notes"]);
    let audited = &document["summaries"][0];
    assert_eq!(
        (&audited["path"], &audited["kept"]),
        (&"0.1".into(), &2.into())
    );
    let fact = serde_json::json!({"kind": "number", "text": "900 euros", "path": "0.1.9"});
    assert!(
        !audited["lost"].as_array().unwrap().contains(&fact),
        "{document}"
    );
    assert_eq!(
        audited["added"],
        serde_json::json!([{"kind": "name", "text": "Grace"}])
    );

    // The block that is meant without a name is the memory.
    remember(&place, &DAYS);
    let memory = place.json(&["memory", "audit"]);
    assert_eq!(
        (&memory["name"], &memory["summaries"][0]["added"]),
        (&"memory".into(), &serde_json::json!([]))
    );
}
