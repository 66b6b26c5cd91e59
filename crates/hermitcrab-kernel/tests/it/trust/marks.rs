//! The marks of labelled nodes in the views of the model, and nowhere else.

use hermitcrab_kernel::prompt::Phase;
use hermitcrab_kernel::{EventSink, ScriptStep};
use pscale_blocks::store::Origin;
use pscale_blocks::{BlockName, EditAuthor, O200k, Op, Path, Stamp, TokenCounter as _};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, call, results};

/// Gives the memory `nodes` nodes: the first is by the person, the others are from a page.
fn labelled(place: &Place, nodes: usize) {
    let name: BlockName = "memory".parse().unwrap();
    let url = "https://example.org/tides".to_owned();
    let by_person = Stamp::new(place.kernel.now(), EditAuthor::Person);
    let from = Origin::Web { url }.into();
    let of_page = Stamp::new(place.kernel.now(), EditAuthor::Kernel).with_from(from);
    let digits = |range: std::ops::RangeInclusive<u32>| {
        range.map(|n| n.to_string()).filter(|n| !n.contains('0'))
    };
    let numbers = digits(1..=9)
        .chain(digits(11..=99))
        .chain(digits(111..=999));
    let paths = numbers.take(nodes).map(|number| {
        let digits = number.bytes().map(|digit| digit - b'0');
        Path::from_digits([0].into_iter().chain(digits)).unwrap()
    });
    for (n, path) in paths.enumerate() {
        let (text, stamp) = match n {
            0 => ("Mine.".to_owned(), &by_person),
            n => (format!("Entry {n} of a page."), &of_page),
        };
        let op = Op::Write { path, text };
        place.store.edit(&name, None, &op, stamp).unwrap();
    }
}

fn marks(text: &str) -> usize {
    text.matches(" ~web").count()
}

#[tokio::test]
async fn the_model_sees_marks_and_the_person_and_faces_do_not() {
    let read = |id: &str, path: &str| {
        call(
            id,
            "block_read",
            json!({"name": "memory", "path": path, "view": "subtree"}),
        )
    };
    let steps = [
        read("a", "0"),
        call("b", "block_read", json!({"name": "memory"})),
        call("c", "block_read", json!({"name": "memory", "path": "0"})),
        ScriptStep::text("Read."),
    ];
    let (place, brain) = Setting::default().script(steps);
    labelled(&place, 3);
    place.say("Read").await;
    let asked = brain.asked();
    let memory = asked[0].system[1].as_text().unwrap();
    for line in ["Entry 1 of a page. ~web\n", "Entry 2 of a page. ~web\n"] {
        assert!(memory.contains(line), "{memory}");
    }
    assert!(memory.contains("Mine.\n"), "{memory}");
    for (request, marked) in [(1, 2), (2, 2), (3, 2)] {
        let (text, _) = results(asked[request].messages.last().unwrap()).remove(0);
        assert_eq!(marks(&text), marked, "{text}");
        assert!(text.contains("Entry 2 of a page. ~web\""), "{text}");
    }
    // All that the model wrote after it comes from there.
    let record = place.kernel.record().unwrap();
    let from: Vec<_> = record.iter().map(|said| said.from.listed().len()).collect();
    assert_eq!(from, [0, 1, 1, 1, 1, 1, 1, 1]);
    // The text itself has none.
    assert_eq!(
        place.text("memory", "0.2").as_deref(),
        Some("Entry 1 of a page.")
    );
    let whole = place.tool("block_read", json!({"name": "memory"})).await;
    assert_eq!(marks(&whole.text()), 0);
    let by = EditAuthor::Model {
        id: "script (face 1)".to_owned(),
        web: None,
    };
    let (events, cancel) = (EventSink::none(), CancellationToken::new());
    let face = place.kernel.of_face(1);
    let whole = face.call_tool("block_read", json!({"name": "memory"}), by, events, cancel);
    assert_eq!(marks(&whole.await.text()), 0);
}

#[tokio::test]
async fn marks_take_at_most_sixty_tokens_with_200_labelled_nodes() {
    let read = |id: &str| {
        call(
            id,
            "block_read",
            json!({"name": "memory", "path": "0", "view": "subtree"}),
        )
    };
    let search = call("c", "block_search", json!({"query": "page"}));
    let (place, brain) = Setting::default().script([read("a"), search, ScriptStep::text("Read.")]);
    labelled(&place, 200);
    let labels = place.store.labels(&"memory".parse().unwrap()).unwrap();
    assert!(labels.nodes().len() >= 199, "{}", labels.nodes().len());
    for limit in place.kernel.prompt(Phase::Call).await.limits() {
        assert!(limit.tokens <= limit.most, "{limit:?}");
    }
    place
        .tool("set_tools", json!({"names": ["base", "block_search"]}))
        .await;
    place.say("Read").await;
    // A later request shortens the result.
    let last = brain.asked().remove(1);
    let mut all = String::new();
    for block in &last.system {
        all.push_str(block.as_text().unwrap_or_default());
    }
    for (text, _) in last.messages.iter().flat_map(results) {
        all.push_str(&text);
    }
    let shown = marks(&all);
    assert!((10..=30).contains(&shown), "{shown}");
    assert!(shown * O200k.count(" ~web") <= 60, "{shown}");
    assert!(O200k.count(" ~web") <= 2 && O200k.count(" ~import") <= 2);
}
