//! Files that are made to take much time or memory, and the signal that ends an import.

use std::ops::ControlFlow;

use logosphere_core::import::{Import, ImportError, ImportPlan, Imported};
use serde_json::json;

use super::{imported, plan, problems, run};

/// Returns `count` messages, and `long` ones with all of these as parents and twice as reads.
fn with_links(count: usize, long: usize) -> String {
    let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
    let ids = ids.join(",");
    let line = format!("{{\"text\":\"b\",\"parent\":[{ids}],\"reads\":[{ids},{ids}]}}\n");
    "{\"text\":\"a\"}\n".repeat(count) + &line.repeat(long)
}

#[test]
fn long_lists_of_links_are_read_once() {
    // Comparing each link with those before it takes minutes.
    let count = 300_000;
    let text = with_links(count, 4);
    let found = imported(text.as_bytes(), false, plan("", "messages:1000")).unwrap();
    let last = found.messages.last().unwrap();
    assert!(last.parents.iter().map(|id| id.index()).eq(0..count));
    assert_eq!(last.reads, last.parents);
    // A parent is added to reads that are assumed, once.
    let found = imported(with_links(300, 2).as_bytes(), false, plan("window:2", "")).unwrap();
    assert_eq!(found.messages.last().unwrap().reads.len(), 301);
    assert_eq!(run(&found).transcript.messages.len(), 302);
}

#[test]
fn a_signal_after_the_last_line_ends_the_import() {
    for reads in ["recorded", "thread", "window:2", "none"] {
        for more in 0..4 {
            let mut left = 3 + more;
            let mut on_line = || {
                left -= 1;
                if left < 0 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let mut import = Import::new(plan(reads, ""), &mut on_line);
            let text = "{\"text\":\"a\",\"reads\":[1]}\n".repeat(3);
            import.add_jsonl("a.jsonl", text.as_bytes()).unwrap();
            let found = import.finish();
            assert!(matches!(found, Err(ImportError::Stopped)), "{reads} {more}");
        }
    }
}

/// Imports a journal of the Python program: `count` equal seeds, and one call that reads all and sends `sent` messages.
fn one_call(count: usize, sent: usize) -> Result<Imported, ImportError> {
    let init = "s\n---\n".repeat(count) + "\n---\n~init\n";
    let init = format!("notes\n---\n{init}");
    let raw = "t\n---\n".to_owned() + &"m\n---\n".repeat(sent) + "\n---\n~a\n";
    let lines = [
        json!({"type": "experiment_start", "config": {"K_SAMPLES": count, "M_ACTIVE_POOL": count},
            "init_signature": "~init", "num_seed_messages": count}),
        json!({"type": "round_start", "round": 1, "pool_size": count, "active_pool_size": count}),
        json!({"type": "mind_invocation", "round": 1, "mind_id": 0, "input_messages": vec!["s\n\n~init"; count],
            "thinking": "t", "transmitted": vec!["m\n\n~a"; sent], "tokens_used": 1, "raw_output": raw}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    import.add_old_journal("old.jsonl", text.as_bytes(), &init)?;
    import.finish()
}

#[test]
fn a_journal_with_many_equal_texts_is_read_once() {
    // Searching all messages for each text, and each of them among those found, takes minutes.
    let count = 20_000;
    let found = one_call(count, 2).unwrap();
    assert_eq!(found.unknown_reads, 0);
    for message in &found.messages[count..] {
        assert!(message.reads.iter().map(|id| id.index()).eq(0..count));
    }
}

#[test]
fn reads_of_a_journal_are_limited_in_number() {
    one_call(1000, 1000).unwrap();
    let Err(ImportError::OldJournal { source, .. }) = one_call(5000, 4001) else {
        panic!("20,005,000 reads");
    };
    let expected = "line 3: gives 20005000 reads, and the most are 20000000";
    assert!(source.to_string().starts_with(expected), "{source}");
}

#[test]
fn the_round_of_the_error_is_the_shortest_of_its_unit() {
    for at in 0..300_u64 {
        let first = at * 7919 * 601 % 5_000_000;
        let last = first + 36_000_000 + at * 104_729 * 37 % 2_000_000_000;
        let (size, unit, seconds) =
            [(1, "h", 3600), (3, "h", 3600), (1, "d", 86_400)][at as usize % 3];
        let is_fitting = |size: &u64| last / (size * seconds) - first / (size * seconds) < 10_000;
        if is_fitting(&size) {
            continue;
        }
        let shortest = (1..1000).find(is_fitting).unwrap();
        let text = [first, last].map(|time| format!("{{\"text\":\"a\",\"time\":{time}}}\n"));
        let rule = format!("{size}{unit}");
        let error = problems(imported(text.concat().as_bytes(), false, plan("", &rule)));
        let expected = format!("use {shortest}{unit}");
        assert!(error.ends_with(&expected), "{at}: {error}, {expected}");
    }
}
