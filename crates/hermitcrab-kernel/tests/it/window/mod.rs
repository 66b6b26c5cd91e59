//! The window of a conversation: acceptance rows 14 and 19.

mod any;

use std::collections::BTreeSet;
use std::sync::Arc;

use hermitcrab_kernel::conversation::window::{
    NOTICE, Window, WindowLimits, distinct_ids, entries, group_summary, sanitise, starts_turn, trim,
};
use hermitcrab_kernel::conversation::{Author, Utterance};
use jiff::Timestamp;
use llm_client::{
    Anthropic, Auth, Block, BlockKind, Client, Endpoint, Message, Origin, Raw, Request, Role,
    ToolInput,
};
use proptest::prelude::*;
use pscale_blocks::{Appended, Heuristic, O200k, Summary, SummaryKind, TokenCounter};
use serde_json::{Value, json};
use test_support::{FakeClock, fixture};

fn call(id: &str, name: &str) -> Block {
    Block::new(BlockKind::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: ToolInput::Json(Raw::of(&json!({})).unwrap()),
    })
}

fn assistant(content: Vec<Block>) -> Message {
    Message::new(Role::Assistant, content)
}

fn user(content: Vec<Block>) -> Message {
    Message::new(Role::User, content)
}

/// `messages` of the person and the model.
fn spoken(messages: &[Message]) -> Vec<Utterance> {
    let by = |message: &Message| match message.role {
        Role::Assistant => Author::Model,
        _ if starts_turn(message) => Author::Person,
        _ => Author::Kernel,
    };
    (messages.iter())
        .map(|message| Utterance::new(by(message), message.clone()))
        .collect()
}

fn trimmed(messages: Vec<Message>) -> Window {
    trim(messages, None, WindowLimits::default(), &Heuristic)
}

/// A turn of one tool round, and the text of its person.
fn tool_turn(n: usize) -> Vec<Message> {
    let id = format!("t{n}");
    vec![
        Message::user(format!("q{n}")),
        assistant(vec![call(&id, "block_list")]),
        user(vec![Block::tool_result(&id, "[]", false)]),
        Message::assistant(format!("a{n}")),
    ]
}

#[test]
fn the_vectors_hold() {
    let text = std::fs::read_to_string(fixture("hermitcrab/vectors/vectors.json")).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["trim"].as_array().unwrap();
    assert!(cases.len() >= 7);
    for case in cases {
        let n = usize::try_from(case["n"].as_u64().unwrap()).unwrap();
        let messages: Vec<Message> = match case["case"].as_str() {
            Some("tool_rounds") => (0..=n / 4).flat_map(tool_turn).take(n).collect(),
            None => (0..n)
                .map(|at| match at % 2 {
                    0 => Message::user(format!("m{at}")),
                    _ => Message::assistant(format!("m{at}")),
                })
                .collect(),
            Some(other) => panic!("an unknown case {other}"),
        };
        let window = trimmed(messages);
        let first = window.messages.first();
        let first_text = first.map(|first| first.content.last().unwrap().as_text().unwrap());
        assert_eq!(
            json!({
                "out_len": window.messages.len(),
                "dropped": window.dropped.len(),
                "dangling_removed": window.dangling_removed,
                "first": first_text,
                "first_role": first.map(|first| first.role),
                "notice": window.notice,
            }),
            case["expected"],
            "{case}"
        );
        let says_so = first.is_some_and(|first| first.content[0].as_text() == Some(NOTICE));
        assert_eq!(says_so, window.notice, "{case}");
        assert_eq!(window.dropped.len(), window.kept_from);
    }
}

#[test]
fn the_notice_is_the_agreed_text() {
    assert_eq!(
        NOTICE,
        "[Earlier messages moved to memory. Use block_read(\"memory\") for full history.] The exact words are in \
         block \"history\"."
    );
}

#[test]
fn tokens_limit_the_window_too_and_turns_stay_whole() {
    // 1,004 tokens a message and 2,008 a turn: one earlier turn fits beside the current one.
    let long = "x".repeat(3_000);
    let mut messages = Vec::new();
    for _ in 0..3 {
        messages.push(Message::user(&long));
        messages.push(Message::assistant(&long));
    }
    messages.push(Message::user("now"));
    let window = trimmed(messages.clone());
    assert_eq!(window.messages.len(), 3);
    assert_eq!(window.dropped, messages[..4]);
    assert_eq!(window.kept_from, 4);

    // The notice needs its place: without it these would fit to the token.
    let exact = WindowLimits {
        tokens: 2_008 + 5,
        ..WindowLimits::default()
    };
    let all = trim(messages[4..].to_vec(), None, exact, &Heuristic);
    assert_eq!(all.messages.len(), 3);
    assert!(!all.notice);
    let cut = trim(messages, None, exact, &Heuristic);
    assert_eq!(cut.messages.len(), 1);
}

#[test]
fn the_current_turn_stays_whole_and_its_oldest_results_are_shortened() {
    let result = "r".repeat(6_000);
    let mut messages = tool_turn(0);
    messages.push(Message::user("read it all"));
    for round in 1..=3 {
        let id = format!("c{round}");
        messages.push(assistant(vec![call(&id, "block_read")]));
        messages.push(user(vec![Block::tool_result(&id, &result, false)]));
    }
    let window = trimmed(messages);
    // Shortened so far, the turn leaves room for the one before.
    assert_eq!(window.messages.len(), 4 + 7);
    let lengths: Vec<usize> = window
        .messages
        .iter()
        .filter_map(|message| match &message.content[0].kind {
            BlockKind::ToolResult { content, .. } => Some(content[0].as_text().unwrap()),
            _ => None,
        })
        .map(|text| text.chars().count())
        .collect();
    // The last one was not seen by the model yet.
    assert_eq!(lengths, [2, 400, 400, 6_000]);
}

#[test]
fn a_turn_longer_than_the_window_is_kept_and_a_nudge_does_not_end_it() {
    let mut messages = tool_turn(0);
    let start = messages.len();
    messages.push(Message::user("go"));
    for round in 1..=12 {
        let id = format!("c{round}");
        messages.push(assistant(vec![call(&id, "block_list")]));
        messages.push(user(vec![Block::tool_result(&id, "[]", false)]));
    }
    // What the kernel says in the midst of a turn.
    messages.push(Message::assistant("…"));
    messages.push(Message::user("say in one sentence what you did"));
    let window = trim(
        messages.clone(),
        Some(start),
        WindowLimits::default(),
        &Heuristic,
    );
    assert_eq!(window.kept_from, start);
    assert_eq!(window.messages.len(), messages.len() - start);
    assert_eq!(trimmed(messages).messages.len(), 1);
}

#[test]
fn neighbours_are_merged_system_is_hoisted_and_nothing_is_empty() {
    let window = trimmed(vec![
        Message::assistant("before anybody spoke"),
        Message::user("one"),
        Message::new(Role::System, vec![Block::text("be brief")]),
        Message::user("  \n"),
        Message::user("two"),
        assistant(vec![Block::text("")]),
        assistant(vec![Block::text("a"), Block::text(" ")]),
        Message::assistant("b"),
        user(vec![Block::tool_result("nobody", "asked", false)]),
    ]);
    assert_eq!(window.system, [Block::text("be brief")]);
    let texts: Vec<(Role, Vec<&str>)> = window
        .messages
        .iter()
        .map(|message| {
            let texts = message.content.iter().filter_map(Block::as_text);
            (message.role, texts.collect())
        })
        .collect();
    assert_eq!(
        texts,
        [
            (Role::User, vec![NOTICE, "one", "two"]),
            (Role::Assistant, vec!["a", "b"])
        ]
    );
    assert_eq!(window.dropped, [Message::assistant("before anybody spoke")]);
}

#[test]
fn a_conversation_without_a_person_is_empty() {
    let window = trimmed(vec![Message::assistant("hello?")]);
    assert_eq!(window.messages, []);
    assert_eq!(window.dropped.len(), 1);
    assert!(!window.notice);
}

#[test]
fn what_follows_a_result_in_its_own_message_starts_a_turn() {
    // The face's boot: its tool result is kept, and the person's text comes after it.
    let boot = "j".repeat(20_000);
    let window = trimmed(vec![
        Message::user("BOOT"),
        assistant(vec![Block::text(boot), call("c", "recompile")]),
        user(vec![Block::tool_result("c", "{}", false)]),
        Message::user("hello"),
    ]);
    assert_eq!(window.messages.len(), 1);
    assert_eq!(window.messages[0].text(), format!("{NOTICE}hello"));

    // Where both fit they are one message, the result first.
    let window = trimmed(vec![
        Message::user("BOOT"),
        assistant(vec![call("c", "recompile")]),
        user(vec![Block::tool_result("c", "{}", false)]),
        Message::user("hello"),
    ]);
    assert_eq!(window.messages.len(), 3);
    assert_eq!(window.messages[2].content.len(), 2);
}

#[test]
fn open_calls_are_removed_anywhere_and_so_are_their_other_results() {
    let sane = sanitise(vec![
        Message::user("one"),
        assistant(vec![Block::text("look"), call("a", "x"), call("b", "x")]),
        user(vec![
            Block::tool_result("a", "1", false),
            Block::text("and?"),
        ]),
        assistant(vec![call("c", "x")]),
        user(vec![Block::tool_result("c", "2", false)]),
        assistant(vec![Block::text("cut"), call("d", "x")]),
    ]);
    assert_eq!(sane.dangling_removed, 2);
    assert_eq!(
        sane.into_messages(),
        [
            Message::user("one"),
            user(vec![Block::text("and?")]),
            assistant(vec![call("c", "x")]),
            user(vec![Block::tool_result("c", "2", false)]),
        ]
    );
}

#[test]
fn two_calls_with_one_id_get_two_and_their_results_follow() {
    let sane = sanitise(vec![
        Message::user("one"),
        assistant(vec![call("a", "x"), call("a", "y"), call("", "z")]),
        user(vec![
            Block::tool_result("a", "of x", false),
            Block::tool_result("a", "of y", false),
            Block::tool_result("", "of z", false),
        ]),
        assistant(vec![call("a", "x")]),
        user(vec![Block::tool_result("a", "again", false)]),
    ]);
    assert_eq!(sane.dangling_removed, 0);
    assert_eq!(
        sane.into_messages(),
        [
            Message::user("one"),
            assistant(vec![call("a", "x"), call("a_2", "y"), call("call_2", "z")]),
            user(vec![
                Block::tool_result("a", "of x", false),
                Block::tool_result("a_2", "of y", false),
                Block::tool_result("call_2", "of z", false),
            ]),
            assistant(vec![call("a_3", "x")]),
            user(vec![Block::tool_result("a_3", "again", false)]),
        ]
    );
}

#[test]
fn a_reply_gets_distinct_ids_and_keeps_every_other_block_as_it_came() {
    let raw = r#"{"type":"tool_use","id":"a","name":"x","input":{ "b":1.0 }}"#;
    let received = |id: &str| call(id, "x").raw(Some(Raw::parse(raw).unwrap()));
    let before = [assistant(vec![call("z", "x")])];
    let mut reply = assistant(vec![received("a"), received("a"), received("z")]);
    distinct_ids(&mut reply, &before);
    let ids: Vec<_> = reply.content.iter().map(call_id).collect();
    assert_eq!(ids, [Some("a"), Some("a_2"), Some("z_2")]);
    assert_eq!(reply.content[0].raw.as_ref().unwrap().get(), raw);
    assert!(reply.content[1].raw.is_none() && reply.content[2].raw.is_none());
}

#[test]
fn received_blocks_go_back_byte_by_byte() {
    let text = r#"{"type":"text","text":"hi","citations":null,  "n":1.50}"#;
    let thought = r#"{"signature":"c2ln","thinking":"","type":"thinking"}"#;
    let odd = r#"{"type":"from_the_future","x":[1, 2]}"#;
    let origin = Origin::new("anthropic", "m");
    let received = |kind, raw: &str| {
        Block::new(kind)
            .raw(Some(Raw::parse(raw).unwrap()))
            .origin(Some(origin.clone()))
    };
    let thinking = BlockKind::Thinking {
        text: String::new(),
        signature: Some("c2ln".to_owned()),
    };
    let other = BlockKind::Other {
        kind: "from_the_future".to_owned(),
    };
    let reply = assistant(vec![
        received(thinking, thought),
        received(other, odd),
        received(Block::text("hi").kind, text),
    ]);
    let window = trimmed(vec![Message::user("one"), reply, Message::user("two")]);
    let request = Request::new("m", "").messages(window.messages);
    let body = client().prepare(&request).unwrap().body;
    let body = std::str::from_utf8(&body).unwrap();
    let sent = format!("[{thought},{odd},{text}]");
    assert!(body.contains(&sent), "{body}");
}

#[test]
fn twenty_messages_of_250_tokens_and_the_prompt_stay_below_5000() {
    // Below the limit of the window whatever the tokenizer: 1,200 tokens are left for system and tools.
    let words = "word ".repeat(249) + "end";
    assert_eq!(O200k.count(&words), 250);
    let messages = (0..20)
        .map(|at| match at % 2 {
            0 => Message::user(&words),
            _ => Message::assistant(&words),
        })
        .chain([Message::user("now")])
        .collect();
    let window = trim(messages, None, WindowLimits::default(), &O200k);
    let sent: usize = window
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .map(|block| O200k.count(block.as_text().unwrap()))
        .sum();
    assert!((3_500..=3_800).contains(&sent), "{sent}");
}

#[test]
fn a_turns_entry_is_word_for_word_up_to_the_clip() {
    let at: Timestamp = "2026-11-22T14:00:00Z".parse().unwrap();
    let said = "wörter ".repeat(80);
    let answer = "antwort ".repeat(20);
    let turn = [
        Message::user(said.trim()),
        assistant(vec![
            Block::text("I look."),
            call("a", "block_read"),
            call("b", "block_read"),
        ]),
        user(vec![Block::tool_result("a", "secret", false)]),
        Message::assistant(answer.trim()),
    ];
    let turns = [&turn[..], &[Message::user("next")]].concat();
    let kept: Vec<_> = entries(&spoken(&turns), at).collect();
    assert_eq!(kept[1..], ["2026-11-22 | person: next"]);
    let left: String = answer.chars().take(600 - 559 - 7).collect();
    assert_eq!(
        kept[0],
        format!(
            "2026-11-22 | person: {}\nhermitcrab: I look.\nhermitcrab: {left}…\ntools: block_read",
            said.trim()
        )
    );
    assert_eq!(entries(&[], at).next(), None);
}

#[test]
fn a_hundred_turns_make_a_history_that_grows_by_itself() {
    let mut history = pscale_blocks::Block::new("turns word for word");
    let at: Timestamp = "2026-11-20T14:00:00Z".parse().unwrap();
    for n in 0..100 {
        let at = at + jiff::SignedDuration::from_hours(n);
        let turn = [
            Message::user(format!(
                "question {n} about tides and crabs that is long enough to be cut"
            )),
            Message::assistant("an answer"),
        ];
        let text: String = entries(&spoken(&turn), at).collect();
        let mut summary = None;
        loop {
            match history.append(&text, summary.take()).unwrap() {
                Appended::Written { .. } => break,
                Appended::NeedsSummary { entries, .. } => {
                    summary = Some(Summary {
                        kind: SummaryKind::Summary,
                        text: group_summary(&entries),
                    });
                }
            }
        }
    }
    let path = "0.1.1".parse().unwrap();
    let group = history.view(&path).unwrap().content.unwrap();
    assert!(
        group.starts_with(
            "2026-11-20 | question 0 about tides and crabs that is long …; question 1"
        ),
        "{group}"
    );
    let all = history
        .view(&"0.1".parse().unwrap())
        .unwrap()
        .content
        .unwrap();
    assert!(
        all.starts_with("2026-11-20 to 2026-11-23 | question 0"),
        "{all}"
    );
}

fn call_id(block: &Block) -> Option<&str> {
    match &block.kind {
        BlockKind::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn client() -> Client {
    let endpoint = Endpoint::new("http://127.0.0.1:9", Auth::None).unwrap();
    Client::builder(
        Arc::new(Anthropic::new(endpoint)),
        Arc::new(FakeClock::new()),
    )
    .build()
    .unwrap()
}

/// A counter that adds up the bytes that it is given.
#[derive(Default)]
struct Reading(std::sync::atomic::AtomicUsize);

impl TokenCounter for Reading {
    fn name(&self) -> &'static str {
        "reading"
    }

    fn count(&self, text: &str) -> usize {
        self.0
            .fetch_add(text.len(), std::sync::atomic::Ordering::Relaxed);
        text.len().div_ceil(4)
    }
}

#[test]
fn a_text_is_counted_once_and_one_that_cannot_fit_not_at_all() {
    let read = |words: &str| {
        let counter = Reading::default();
        let messages = vec![Message::user("Go"), Message::assistant(words)];
        let window = trim(messages, None, WindowLimits::default(), &counter);
        assert_eq!(window.messages.len(), 2);
        counter.0.into_inner()
    };
    let once = "ship ".repeat(20_000);
    assert_eq!(read(&once), once.len() + 2);
    assert_eq!(read(&"ship ".repeat(200_000)), 2);
}
