//! Receipts of summaries: section 4, rows C1 to C3.
#![expect(
    clippy::disallowed_macros,
    reason = "`--nocapture` shows the figures of the planted facts"
)]

use hermitcrab_kernel::prompt::{CoreBlock, Receipt};
use hermitcrab_kernel::toolbox::run_block_tool;
use hermitcrab_kernel::{Event, EventSink, ScriptStep};
use pscale_blocks::store::{StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{
    Appended, Block, BlockName, BlockStore as _, EditAuthor, MemStore, Path, Stamp, StoreError,
    Summary, SummaryKind,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, call, results};

/// The entries of a group.
const GROUP: usize = 9;

/// A generator of numbers below a bound, from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A made-up word that is the same for the same number.
fn word(number: usize) -> String {
    let syllables = ["ba", "de", "fi", "go", "ku", "me", "na", "ri", "so", "tu"];
    // The stem of a word has six letters.
    let digits = [
        number % 10,
        number / 10 % 10,
        number / 100 % 10,
        number / 1_000 % 10,
    ];
    digits.map(|digit| syllables[digit]).concat()
}

/// A clause with the fact of a number; the kinds alternate.
fn clause(number: usize) -> String {
    let word = word(number);
    match number % 5 {
        0 => format!("it cost {} euros", 1_000 + number * 7),
        1 => format!(
            "on 20{:02}-{:02}-{:02} the tide was high",
            10 + number / 336,
            1 + number / 28 % 12,
            1 + number % 28
        ),
        2 => format!("we met {}{} there", word[..1].to_uppercase(), &word[1..]),
        3 => format!(
            "the form {}-{number} was filled in",
            word[..2].to_uppercase()
        ),
        _ => format!("they did not {word} the boat"),
    }
}

/// The numbers of the planted facts of each of 900 entries, 1,000 in all.
fn facts_of_entries() -> Vec<Vec<usize>> {
    let mut draw = Draw(26);
    let mut entries = vec![Vec::new(); 900];
    for number in 0..1_000 {
        let entry = if number < 900 {
            number
        } else {
            draw.below(900)
        };
        entries[entry].push(number);
    }
    entries
}

/// A memory whose groups have summaries by `summarise`, which gets the facts of nine entries.
fn memory(entries: &[Vec<usize>], mut summarise: impl FnMut(&[usize]) -> Vec<usize>) -> Block {
    let mut memory = CoreBlock::Memory.embedded().clone();
    let text = |facts: &[usize]| -> String {
        let clauses: Vec<_> = facts.iter().map(|fact| clause(*fact)).collect();
        format!("Today {}.", clauses.join(" and "))
    };
    for (place, facts) in entries.iter().enumerate() {
        let mut appended = memory.append(&text(facts), None).unwrap();
        while let Appended::NeedsSummary { entries: below, .. } = appended {
            // A group has entries; what is wider has summaries, whose facts it repeats.
            let is_group = below[0].pscale < 0;
            let summary = if is_group {
                text(&summarise(&entries[place - GROUP..place].concat()))
            } else {
                let texts = below.iter().filter_map(|node| node.text.as_deref());
                texts.collect::<Vec<_>>().join(" ")
            };
            let summary = Summary {
                kind: SummaryKind::Summary,
                text: summary,
            };
            appended = memory.append(&text(facts), Some(summary)).unwrap();
        }
    }
    memory
}

/// The receipts of the summaries of entries.
fn receipts(memory: &Block) -> Vec<(Path, Receipt)> {
    let all = Receipt::all(memory).into_iter();
    all.filter(|(path, _)| memory.pscale(path) == 0).collect()
}

/// C1: what scripted summarisers drop and add is what the receipts report, and each dropped fact is at its path.
#[test]
fn planted() {
    let entries = facts_of_entries();
    let perfect = receipts(&memory(&entries, <[usize]>::to_vec));
    assert!(perfect.len() >= 99, "{}", perfect.len());
    let sum = |count: fn(&Receipt) -> usize, of: &[(Path, Receipt)]| -> usize {
        of.iter().map(|(_, receipt)| count(receipt)).sum()
    };
    let lost: fn(&Receipt) -> usize = |receipt| receipt.lost.len();
    let added: fn(&Receipt) -> usize = |receipt| receipt.added.len();
    println!(
        "perfect: {} kept, {} lost, {} added",
        sum(|it| it.kept, &perfect),
        sum(lost, &perfect),
        sum(added, &perfect)
    );
    assert_eq!((sum(lost, &perfect), sum(added, &perfect)), (0, 0));
    let kept = sum(|receipt| receipt.kept, &perfect);
    assert!(kept.abs_diff(summarised(&entries)) <= 10, "{kept}");

    let mut draw = Draw(4);
    let mut dropped = Vec::new();
    let dropping = memory(&entries, |facts| {
        let mut kept = facts.to_vec();
        kept.retain(|fact| {
            let stays = draw.below(10) >= 3;
            if !stays {
                dropped.push(*fact);
            }
            stays
        });
        kept
    });
    let found = receipts(&dropping);
    println!(
        "dropped {}, reported lost {}",
        dropped.len(),
        sum(lost, &found)
    );
    assert!(sum(lost, &found).abs_diff(dropped.len()) * 100 <= dropped.len());
    assert_eq!(sum(added, &found), 0);
    let facts: Vec<_> = found
        .iter()
        .flat_map(|(_, receipt)| &receipt.lost)
        .collect();
    for fact in &facts {
        // One read of the block at the path of the receipt.
        let text = dropping.text(&fact.path.unwrap()).unwrap().unwrap();
        assert!(text.contains(&fact.text), "{fact:?}: {text}");
        assert!(
            dropped
                .iter()
                .any(|number| clause(*number).contains(&fact.text)),
            "{fact:?}"
        );
    }
    let kinds: std::collections::BTreeSet<_> = facts.iter().map(|fact| fact.kind).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");

    let mut new = 5_990..;
    let mut count = 0;
    let adding = memory(&entries, |facts| {
        let mut all = facts.to_vec();
        for _ in facts {
            if draw.below(20) == 0 {
                all.extend(new.next());
                count += 1;
            }
        }
        all
    });
    let found = receipts(&adding);
    println!("added {count}, reported added {}", sum(added, &found));
    assert!(sum(added, &found).abs_diff(count) * 100 <= count);
    assert_eq!(sum(lost, &found), 0);
}

/// The number of facts in groups that have a summary.
fn summarised(entries: &[Vec<usize>]) -> usize {
    let groups = (entries.len() - 1) / GROUP;
    entries[..groups * GROUP].iter().map(Vec::len).sum()
}

/// A kernel whose memory has nine entries, and a model that follows a script.
fn nine(steps: Vec<ScriptStep>) -> (Place, std::sync::Arc<hermitcrab_kernel::ScriptBrain>) {
    let (place, brain) = Setting::default().script(steps);
    let memory = CoreBlock::Memory.name();
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Person);
    for day in 1..=9 {
        let input = json!({"name": memory, "content": format!("Ada paid {day}00 euros.")});
        let done = run_block_tool("block_append", input, &*place.store, &stamp, None);
        assert!(!done.is_error, "{:?}", done.content);
    }
    (place, brain)
}

fn append(id: &str, summary: &str, kind: &str) -> ScriptStep {
    let input = json!({"name": "memory", "content": "Day 10.", "summary": summary, "kind": kind});
    call(id, "block_append", input)
}

/// The answers to the calls of the turn, in order.
async fn answers(place: &Place) -> Vec<Value> {
    let messages = place.kernel.messages().await;
    let results = messages.iter().flat_map(results);
    results
        .map(|(text, _)| serde_json::from_str(&text).unwrap())
        .collect()
}

/// C3: a summary that adds is questioned once, then written.
#[tokio::test]
async fn question() {
    let adding = "Ada paid every day, and Grace paid 7777 euros.";
    let (place, brain) = nine(vec![
        append("1", adding, "summary"),
        append("2", adding, "summary"),
        ScriptStep::text("Done."),
    ]);
    let report = place.say("Remember the tenth day").await;
    // A stubborn model ends in one extra round.
    assert_eq!((report.rounds, brain.asked().len()), (3, 3));
    let answers = answers(&place).await;
    assert_eq!(answers[0]["written"], false, "{answers:?}");
    assert_eq!(answers[0]["added"], json!(["Grace", "7777 euros"]));
    let lost = answers[0]["lost"].as_array().unwrap();
    assert!(
        lost.len() >= 9 && lost.contains(&json!({"fact": "300 euros", "path": "0.3"})),
        "{lost:?}"
    );
    assert!(
        answers[0]["hint"]
            .as_str()
            .unwrap()
            .contains("send it again unchanged")
    );
    let receipt = &answers[1]["receipt"];
    assert_eq!(receipt["added"], 2, "{answers:?}");
    // The block grew, and the paths are those of now.
    assert_eq!(receipt["lost_at"][0], "0.1.1");
    assert_eq!(place.text("memory", "0.1").as_deref(), Some(adding));
    // A question is not a change of the block.
    let events = place.events.lock().unwrap();
    let changes = events
        .iter()
        .filter(|event| matches!(event, Event::BlockChanged { .. }));
    assert_eq!(changes.count(), 1);
}

#[tokio::test]
async fn a_corrected_summary_and_an_emergence_are_written_at_once() {
    let (place, brain) = nine(vec![
        append(
            "1",
            "Ada paid 100 euros and more of it, Grace too.",
            "summary",
        ),
        append("2", "Ada paid 100 euros and more of it.", "summary"),
        ScriptStep::text("Done."),
    ]);
    place.say("Remember the tenth day").await;
    assert_eq!(brain.asked().len(), 3);
    let told = answers(&place).await;
    assert_eq!(
        (&told[0]["added"], &told[1]["receipt"]["added"]),
        (&json!(["Grace"]), &json!(0))
    );

    let (place, brain) = nine(vec![
        append("1", "Ada pays in the same way as Grace.", "emergence"),
        ScriptStep::text("Done."),
    ]);
    place.say("Remember the tenth day").await;
    assert_eq!(brain.asked().len(), 2);
    assert_eq!(answers(&place).await[0]["receipt"]["added"], 1);
}

/// The first turn's question does not count in the second; a growth is asked about as an append is.
#[tokio::test]
async fn each_turn_asks_once_and_a_growth_as_well() {
    let grow = |id: &str, summary: &str| {
        call(
            id,
            "block_grow",
            json!({"name": "memory", "summary": summary, "kind": "summary"}),
        )
    };
    let (place, _) = nine(vec![
        call("0", "set_tools", json!({"names": ["block_grow"]})),
        grow("1", "So Grace paid for all of it."),
        ScriptStep::text("I leave it."),
        grow("2", "So Grace paid for all of it."),
        grow("3", "So Grace paid for all that there was."),
        ScriptStep::text("Done."),
    ]);
    place.say("Grow").await;
    assert_eq!(
        place.text("memory", "0.1").as_deref(),
        Some("Ada paid 100 euros.")
    );
    place.say("Grow now").await;
    let told = answers(&place).await;
    let written: Vec<_> = told[1..]
        .iter()
        .map(|answer| answer["written"] != false)
        .collect();
    assert_eq!(written, [false, false, true], "{told:?}");
    assert_eq!(
        place.text("memory", "0.1").as_deref(),
        Some("So Grace paid for all that there was.")
    );
}

/// Faces, other programs and the person get a receipt, and no question.
#[tokio::test]
async fn only_a_model_in_its_turn_is_asked() {
    let input =
        json!({"name": "memory", "content": "Day 10.", "summary": "So Grace paid for all of it."});
    let model = || EditAuthor::Model {
        id: "client".to_owned(),
        web: None,
    };
    for by in [EditAuthor::Person, model()] {
        let (place, _) = nine(Vec::new());
        let (events, cancel) = (EventSink::none(), CancellationToken::new());
        let done = place
            .kernel
            .call_tool("block_append", input.clone(), by, events, cancel)
            .await;
        assert_eq!(done.content["receipt"]["added"], 1, "{:?}", done.content);
    }
    let (place, _) = nine(Vec::new());
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, model());
    let done = run_block_tool("block_append", input, &*place.store, &stamp, None);
    assert_eq!(done.content["receipt"]["added"], 1, "{:?}", done.content);
}

/// Paths of blocks and numbers of the earlier generation's files are not facts.
#[test]
fn labels_are_not_facts() {
    let mut block = Block::new("Memory.");
    for day in 1..=9 {
        block
            .append(&format!("Day {day}, see M-{day}."), None)
            .unwrap();
    }
    let text = "Nine days: 0.2.1, S-3 and M-12, as 0.2 says. Not in 0.55 or V-12.".to_owned();
    block
        .grow(&Summary {
            kind: SummaryKind::Summary,
            text,
        })
        .unwrap();
    block.append("Day 10.", None).unwrap();
    let receipt = Receipt::read(&block, &"0.1".parse().unwrap()).unwrap();
    let added: Vec<_> = receipt
        .added
        .iter()
        .map(|fact| fact.text.as_str())
        .collect();
    assert!(
        added.contains(&"V-12") && added.contains(&"0.55"),
        "{added:?}"
    );
    assert!(
        !added
            .iter()
            .any(|text| ["0.2.1", "S-3", "M-12", "0.2"].contains(text)),
        "{added:?}"
    );
    assert!(
        receipt.lost.iter().all(|fact| !fact.text.starts_with("M-")),
        "{receipt:?}"
    );
    for path in ["0", "0.2", "0.1.3"] {
        assert_eq!(
            Receipt::read(&block, &path.parse().unwrap()),
            None,
            "{path}"
        );
    }
}

/// The texts below an entry belong to it; a later summary is made of summaries.
#[test]
fn details_of_entries_are_parts() {
    let store = MemStore::new();
    let mut block = Block::new("Memory.");
    for day in 1..=9 {
        block.append(&format!("Day {day}."), None).unwrap();
    }
    block
        .write(&"0.4.1".parse().unwrap(), "It cost 4711 euros.")
        .unwrap();
    let text = "Something cost 4711 euros.".to_owned();
    block
        .grow(&Summary {
            kind: SummaryKind::Summary,
            text,
        })
        .unwrap();
    let name = CoreBlock::Memory.name();
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Person);
    store.create(name, &block, &stamp).unwrap();
    // A text that is written over a summary has a receipt, too.
    let write = json!({"name": name, "path": "0.1", "content": "It cost 4711 or 9922 euros."});
    let done = run_block_tool("block_write", write, &store, &stamp, None);
    assert_eq!(done.content["receipt"]["added"], 1, "{:?}", done.content);
    let entry = json!({"name": name, "path": "0.1.4", "content": "Day 4 again."});
    let done = run_block_tool("block_write", entry, &store, &stamp, None);
    assert!(done.content.get("receipt").is_none(), "{:?}", done.content);
}

/// The entries of a group without a summary are what a growth sums up, too.
#[test]
fn entries_of_an_open_group_are_parts() {
    let mut block = Block::new("Memory.");
    let summary = |text: &str| Summary {
        kind: SummaryKind::Summary,
        text: text.to_owned(),
    };
    let entry = |day: u32| format!("On day {day} form FX-{day} was filled in.");
    for day in 1..=9 {
        block.append(&entry(day), None).unwrap();
    }
    block
        .append(&entry(10), Some(summary("Nine days with forms.")))
        .unwrap();
    for day in 11..=14 {
        block.append(&entry(day), None).unwrap();
    }
    block
        .grow(&summary("Days with forms, such as FX-12."))
        .unwrap();
    assert!(block.text(&"0.1.2.5".parse().unwrap()).unwrap().is_some());
    let receipt = Receipt::read(&block, &"0.1".parse().unwrap()).unwrap();
    assert!(receipt.added.is_empty(), "{receipt:?}");
    let lost = receipt.lost.iter().find(|fact| fact.text == "FX-14");
    assert_eq!(lost.unwrap().path, Some("0.1.2.5".parse().unwrap()));
}

/// No prompt and no answer to a tool waits for a comparison of megabytes.
#[test]
fn texts_of_over_64_kib_are_compared_by_an_audit_only() {
    let mut block = Block::new("Memory.");
    for day in 1..=9 {
        block.append(&format!("Day {day}."), None).unwrap();
    }
    let text = "It cost 4711 euros. ".repeat(2_000);
    for path in ["0.4.1", "0.4.2"] {
        block.write(&path.parse().unwrap(), &text).unwrap();
    }
    let summary = Summary {
        kind: SummaryKind::Summary,
        text: "It cost 9922 euros.".to_owned(),
    };
    block.grow(&summary).unwrap();
    let path = "0.1".parse().unwrap();
    assert_eq!(Receipt::read(&block, &path).unwrap().added.len(), 1);
    assert_eq!(Receipt::quick(&block, &path), None);
    block.remove(&"0.1.4.2".parse().unwrap()).unwrap();
    assert_eq!(Receipt::quick(&block, &path).unwrap().added.len(), 1);
}

/// A store whose blocks cannot be read.
#[derive(Default)]
struct Unreadable;

impl StoreWatch for Unreadable {
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        match call {
            StoreCall::Load => Err(StoreError::Corrupt {
                path: format!("{name}.json").into(),
                reason: "not a block".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

/// A model that gets an error would send the entry again.
#[test]
fn an_edit_is_answered_as_written_if_its_receipt_cannot_be_made() {
    let store = WatchedStore::<MemStore, Unreadable>::default();
    let name = CoreBlock::Memory.name();
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Person);
    store.create(name, &Block::new("Memory."), &stamp).unwrap();
    let input = json!({"name": name, "content": "Day 1."});
    let done = run_block_tool("block_append", input, &store, &stamp, None);
    assert!(!done.is_error, "{:?}", done.content);
    assert_eq!(done.content["path"], "0.1");
}
