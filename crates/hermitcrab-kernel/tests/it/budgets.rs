//! The budgets of section 3, counted by o200k on the exact strings that are sent.
#![expect(
    clippy::disallowed_macros,
    reason = "`--nocapture` shows how much of each budget is used"
)]

use hermitcrab_kernel::Face;
use hermitcrab_kernel::prompt::{BlockLabels, CoreBlock, Phase, PromptBlocks, Running};
use hermitcrab_kernel::table::{boot_tools, conversation_tools, tool_groups};
use llm_client::ToolSpec;
use proptest::collection::vec;
use proptest::prelude::*;
use pscale_blocks::store::{Origin, Origins};
use pscale_blocks::{
    Block, BlockStore as _, EditAuthor, MemStore, O200k, Path, Stamp, Summary, SummaryKind,
    TokenCounter as _,
};
use serde_json::json;

use crate::prompt::{BOOT, prompt};

/// The window of messages, which the kernel keeps.
const WINDOW: usize = 3_800;

#[test]
fn a_boot_has_at_most_1500_tokens() {
    for (running, face) in [
        (Running::Nothing, Face::Page),
        (Running::Restored, Face::Page),
        (Running::Nothing, Face::Terminal),
    ] {
        let prompt = prompt(Phase::Boot { running, face }, &PromptBlocks::default());
        let tokens = count(&prompt.cached) + count(&prompt.memory);
        println!("boot system, {running:?}, {face:?}: {tokens} of 1500");
        assert!(tokens <= 1_500, "{tokens}");
        assert_eq!(tokens, prompt.tokens);
        assert_parts(&prompt);
    }
}

#[test]
fn a_call_has_at_most_500_tokens() {
    let prompt = prompt(Phase::Call, &PromptBlocks::default());
    let tokens = count(&prompt.cached) + count(&prompt.memory);
    println!("system of a call, empty memory: {tokens} of 500");
    assert!(tokens <= 500, "{tokens}");
    assert_parts(&prompt);
}

#[test]
fn a_call_keeps_to_its_budget_with_7000_memories() {
    let memory = full_memory();
    let blocks = PromptBlocks {
        memory: Some(&memory),
        ..PromptBlocks::default()
    };
    for phase in [BOOT, Phase::Call] {
        let prompt = prompt(phase, &blocks);
        let tokens = count(&prompt.cached) + count(&prompt.memory);
        println!("{phase:?} with 7000 memories: {tokens}");
        assert!(tokens <= phase.limit(), "{tokens}");
        assert!(prompt.memory.contains("Entry 7000"), "{}", prompt.memory);
        assert!(
            prompt.memory.contains(" more in memory)"),
            "{}",
            prompt.memory
        );
        assert_parts(&prompt);
    }
}

/// C4: every entry and summary has facts that no wider summary keeps, and every summary is too long for its line.
#[test]
fn a_call_keeps_to_its_budget_with_7000_memories_and_receipts() {
    let summary =
        "It was a long time by the harbour, with maps and tides and a wish for larger letters, "
            .repeat(3);
    let memory = memory_of(
        |entry| {
            format!(
                "Entry {entry}: on 12 May we paid {entry}00 euros, not {entry}50, for lamp L-{entry}."
            )
        },
        |entry| format!("In all it was {entry} lamps. {summary}"),
    );
    let blocks = PromptBlocks {
        memory: Some(&memory),
        ..PromptBlocks::default()
    };
    for phase in [BOOT, Phase::Call] {
        let prompt = prompt(phase, &blocks);
        let tokens = count(&prompt.cached) + count(&prompt.memory);
        println!(
            "{phase:?} with 7000 memories and receipts: {tokens}\n{}",
            prompt.memory
        );
        assert!(tokens <= phase.limit(), "{tokens}");
        assert!(prompt.memory.contains("Entry 7000"), "{}", prompt.memory);
        let receipts = prompt
            .memory
            .lines()
            .filter_map(|line| line.split_once(" (lost "));
        let mut shown = 0;
        for (line, receipt) in receipts {
            let receipt = format!(" (lost {receipt}");
            assert!(receipt.ends_with(')') && count(&receipt) <= 20, "{receipt}");
            let path = line.split(' ').next().unwrap();
            assert!(
                count(line) + count(&receipt) <= count(path) + 60 + 2,
                "{line}{receipt}"
            );
            shown += 1;
        }
        assert!(shown > 0, "{}", prompt.memory);
        assert_parts(&prompt);
    }
}

#[test]
fn a_prompt_keeps_to_its_budget_with_heads_of_5000_characters() {
    let texts = [
        "several plain words about the sea, ".repeat(143),
        "x".repeat(5_000),
        "潮".repeat(5_000),
        "\n".repeat(4_999) + "end",
        "🐚 ".repeat(2_500),
    ];
    for text in texts {
        let edited: Vec<Block> = CoreBlock::ALL
            .into_iter()
            .map(|core| {
                let mut block = core.embedded().clone();
                block.write(&block.head(), &text).unwrap();
                block
            })
            .collect();
        let mut memory = full_memory();
        memory.write(&memory.head(), &text).unwrap();
        let blocks = blocks_of(&edited, &memory);
        for phase in [BOOT, Phase::Call] {
            let prompt = prompt(phase, &blocks);
            let tokens = count(&prompt.cached) + count(&prompt.memory);
            assert!(tokens <= phase.limit(), "{tokens} of {phase:?}");
            let words = text.contains("words");
            assert!(!words || prompt.parts.iter().any(|part| part.cut > 0));
            assert_parts(&prompt);
        }
    }
}

/// Every place of every block filled with the longest text that a prompt can meet.
#[test]
fn a_prompt_keeps_to_its_budget_when_every_text_is_long() {
    let text = "a long remark, ".repeat(60);
    let edited: Vec<Block> = CoreBlock::ALL
        .into_iter()
        .map(|core| {
            let mut block = core.embedded().clone();
            for digits in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"] {
                for below in ["", ".1", ".9"] {
                    let path: Path = format!("0.{digits}{below}").parse().unwrap();
                    block.write(&path, &text).unwrap();
                }
            }
            block
        })
        .collect();
    let blocks = blocks_of(&edited, &edited[3]);
    for phase in [BOOT, Phase::Call] {
        let prompt = prompt(phase, &blocks);
        let tokens = count(&prompt.cached) + count(&prompt.memory);
        assert!(tokens <= phase.limit(), "{tokens} of {phase:?}");
        assert_parts(&prompt);
    }
}

proptest! {
    /// With any blocks the prompt is within its limit, and the same blocks give the same bytes.
    #[test]
    fn a_prompt_keeps_to_its_budget_with_any_blocks(
        edits in vec((0_usize..6, vec(0_u8..10, 0..5), "\\PC{1,40}|[a-z ]{1,300}|(.|\n){1,80}"), 0..30),
        raised in vec(0_u8..4, 6),
    ) {
        let mut edited = CoreBlock::ALL.map(|core| core.embedded().clone());
        for (block, digits, text) in edits {
            let head: Path = "0".parse().unwrap();
            let path = digits.iter().try_fold(head, |path, digit| path.child(*digit)).unwrap();
            // Blank texts are refused.
            let _ = edited[block].write(&path, &text);
        }
        for (block, decimal) in edited.iter_mut().zip(raised) {
            // So are decimals that do not fit the tree.
            let _ = block.set_decimal(decimal);
        }
        let blocks = blocks_of(&edited, &edited[3]);
        for phase in [BOOT, Phase::Call] {
            let made = prompt(phase, &blocks);
            let tokens = count(&made.cached) + count(&made.memory);
            prop_assert!(tokens <= phase.limit(), "{} of {:?}", tokens, phase);
            for part in &made.parts {
                prop_assert!(part.tokens <= part.limit, "{:?}", part);
            }
            prop_assert_eq!(&made, &prompt(phase, &blocks));
        }
    }
}

#[test]
fn the_tools_keep_to_their_budgets() {
    let seven = count(&sent(&boot_tools()));
    let ten = count(&sent(&conversation_tools()));
    println!("seven tools: {seven} of 500 (goal 380); ten tools: {ten} of 540 (goal 500)");
    assert!(seven <= 380, "{seven}");
    assert!(ten <= 540, "{ten}");
    for group in tool_groups() {
        let specs: Vec<_> = group
            .tools
            .iter()
            .map(hermitcrab_kernel::table::Tool::spec)
            .collect();
        println!("group {}: {}", group.name, count(&sent(&specs)));
    }
}

#[test]
fn a_whole_turn_has_at_most_5000_tokens() {
    // Twenty messages of 250 tokens are 5,000; the window keeps the newest 3,800 of them.
    let memory = full_memory();
    let blocks = PromptBlocks {
        memory: Some(&memory),
        ..PromptBlocks::default()
    };
    let prompt = prompt(Phase::Call, &blocks);
    let tools = count(&sent(&conversation_tools()));
    let turn = prompt.tokens + tools + WINDOW;
    println!(
        "whole turn: {} + {tools} + {WINDOW} = {turn} of 5000",
        prompt.tokens
    );
    assert!(turn <= 5_000, "{turn}");
}

fn assert_parts(prompt: &hermitcrab_kernel::prompt::SystemPrompt) {
    for part in &prompt.parts {
        assert!(part.tokens <= part.limit, "{part:?}");
    }
}

fn count(text: &str) -> usize {
    O200k.count(text)
}

/// The tools as compact JSON, as the provider gets them.
fn sent(tools: &[ToolSpec]) -> String {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| match tool {
            ToolSpec::Function {
                name,
                description,
                schema,
                ..
            } => {
                let (name, description) = (json!(name), json!(description));
                format!(r#"{{"name":{name},"description":{description},"input_schema":{schema}}}"#)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    format!("[{}]", tools.join(","))
}

/// T5: marks count in the budgets, and take at most 30 tokens of a prompt.
#[test]
fn a_prompt_keeps_to_its_budget_with_a_label_on_every_node() {
    let store = MemStore::new();
    let source = "an old backup".to_owned();
    let from = Origins::from(Origin::Import { source });
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Kernel).with_from(from.clone());
    let mut labels = BlockLabels::new();
    let memory = full_memory();
    let edited: Vec<Block> = CoreBlock::ALL.map(|core| core.embedded().clone()).into();
    for core in CoreBlock::ALL {
        let block = match core {
            CoreBlock::Memory => &memory,
            _ => core.embedded(),
        };
        store.create(core.name(), block, &stamp).unwrap();
        labels.insert(core, store.labels(core.name()).unwrap());
    }
    let blocks = PromptBlocks {
        labels: Some(&labels),
        ..blocks_of(&edited, &memory)
    };
    for phase in [BOOT, Phase::Call] {
        let prompt = prompt(phase, &blocks);
        assert!(
            prompt.tokens <= phase.limit(),
            "{} of {phase:?}",
            prompt.tokens
        );
        assert_parts(&prompt);
        assert_eq!(prompt.from, from);
        let both = format!("{}{}", prompt.cached, prompt.memory);
        let marks = both.matches(" ~import\n").count();
        assert!(marks >= 7, "{both}");
        assert!(marks * count(" ~import") <= 30, "{marks}");
    }
}

fn blocks_of<'a>(edited: &'a [Block], memory: &'a Block) -> PromptBlocks<'a> {
    PromptBlocks {
        keystone: Some(&edited[0]),
        constitution: Some(&edited[1]),
        capabilities: Some(&edited[2]),
        memory: Some(memory),
        skills: Some(&edited[4]),
        network: Some(&edited[5]),
        labels: None,
    }
}

/// 7,000 entries and all the summaries they asked for.
fn full_memory() -> Block {
    memory_of(
        |entry| {
            format!(
                "Entry {entry}: the person and I spoke about the harbour and its tides at length."
            )
        },
        |entry| {
            format!("What led up to entry {entry}: a map, tides, and a wish for larger letters.")
        },
    )
}

/// 7,000 entries with these texts, and summaries with those of the entry that asked for them.
fn memory_of(text: impl Fn(u32) -> String, summary: impl Fn(u32) -> String) -> Block {
    let mut memory = CoreBlock::Memory.embedded().clone();
    for entry in 1..=7_000 {
        let text = text(entry);
        let mut appended = memory.append(&text, None).unwrap();
        while let pscale_blocks::Appended::NeedsSummary { .. } = appended {
            let summary = Summary {
                kind: SummaryKind::Summary,
                text: summary(entry),
            };
            appended = memory.append(&text, Some(summary)).unwrap();
        }
    }
    memory
}
