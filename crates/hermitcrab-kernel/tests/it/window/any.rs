//! Any list of messages gives a valid window.

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => Just(String::new()),
        1 => (500_usize..8_000).prop_map(|n| "long ".repeat(n / 5)),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    let id = || prop_oneof![Just(""), Just("a"), Just("b"), Just("c"), Just("a_2")];
    prop_oneof![
        3 => text().prop_map(Block::text),
        3 => id().prop_map(|id| call(id, "block_read")),
        3 => (id(), text()).prop_map(|(id, text)| Block::tool_result(id, text, false)),
        1 => text().prop_map(|text| Block::new(BlockKind::Thinking { text, signature: None })),
        1 => id().prop_map(|id| received(BlockKind::ServerToolUse {
            id: id.to_owned(),
            name: "web_search".to_owned(),
        })),
        1 => id().prop_map(|id| received(BlockKind::ServerToolResult {
            kind: "web_search_tool_result".to_owned(),
            tool_use_id: id.to_owned(),
            error_code: None,
        })),
    ]
}

fn received(kind: BlockKind) -> Block {
    Block::new(kind).raw(Some(Raw::parse("{}").unwrap()))
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![
        6 => Just(Role::User),
        6 => Just(Role::Assistant),
        1 => Just(Role::System)
    ];
    (role, prop::collection::vec(block(), 0..4))
        .prop_map(|(role, content)| Message::new(role, content))
}

/// Hostile messages, with well-formed turns between them so that there is something to keep.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let piece = prop_oneof![
        2 => message().prop_map(|message| vec![message]),
        1 => (0_usize..4).prop_map(tool_turn),
        1 => text().prop_map(|text| vec![Message::user("hi"), Message::assistant(text)]),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Panics unless a provider takes these messages.
fn is_valid(window: &Window) {
    let messages = &window.messages;
    let Some(first) = messages.first() else {
        return;
    };
    assert_eq!(first.role, Role::User);
    assert_eq!(
        window.notice,
        first.content[0].as_text() == Some(NOTICE),
        "the notice comes first"
    );
    let mut ids = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        assert!(
            at == 0 || messages[at - 1].role != message.role,
            "roles alternate"
        );
        assert!(!message.content.is_empty(), "no empty content");
        let mut results_over = false;
        for block in &message.content {
            match &block.kind {
                BlockKind::Text { text } => assert!(!text.trim().is_empty()),
                BlockKind::ToolResult { tool_use_id, .. } => {
                    assert!(!results_over, "results come first");
                    assert!(open.remove(tool_use_id.as_str()), "no orphan");
                    continue;
                }
                _ => {}
            }
            results_over = true;
        }
        assert!(open.is_empty(), "every call has its result");
        for id in message.content.iter().filter_map(call_id) {
            assert_eq!(message.role, Role::Assistant);
            assert!(!id.is_empty() && ids.insert(id), "ids are distinct");
            open.insert(id);
        }
    }
    assert!(open.is_empty(), "nothing is open at the end");
}

fn tokens(message: &Message) -> usize {
    let text = |block: &Block| match &block.kind {
        BlockKind::Text { text } | BlockKind::Thinking { text, .. } => Heuristic.count(text),
        BlockKind::ToolUse { name, .. } => Heuristic.count(name) + 1,
        BlockKind::ToolResult { content, .. } => Heuristic.count(content[0].as_text().unwrap()),
        _ => 1,
    };
    4 + message.content.iter().map(text).sum::<usize>()
}

proptest! {
    #[test]
    fn any_message_list_gives_a_valid_window(messages in conversation(), current in prop::option::of(0_usize..20)) {
        let limits = WindowLimits { messages: 8, tokens: 1_500 };
        let window = trim(messages.clone(), current, limits, &Heuristic);
        is_valid(&window);

        // Sizes, unless it is the current turn alone.
        let starts = window.messages.iter().filter(|message| starts_turn(message)).count();
        let total: usize = window.messages.iter().map(tokens).sum();
        if starts > 1 && current.is_none() {
            prop_assert!(window.messages.len() <= limits.messages);
            prop_assert!(total <= limits.tokens, "{total}");
        }
        // Nothing is invented: what is not shortened was there.
        let given: Vec<&Block> = messages.iter().flat_map(|message| &message.content).collect();
        for block in window.messages.iter().flat_map(|message| &message.content) {
            if let Some(text) = block.as_text() {
                prop_assert!(text == NOTICE || given.contains(&block));
            }
        }
        // The newest words of the person are there.
        let sane = sanitise(messages).into_messages();
        if let Some(last) = sane.iter().rev().find(|message| starts_turn(message)) {
            let text = last.text();
            prop_assert!(window.messages.iter().any(|message| message.text().contains(&text)));
        }
        // A window is a fixed point of the cleaning.
        let again = sanitise(window.messages.clone());
        prop_assert_eq!(again.dangling_removed, 0);
        prop_assert_eq!(again.into_messages(), window.messages.clone());

        // The client takes it, too. It goes on from no message of the assistant.
        if !window.messages.is_empty() {
            let request = Request::new("some-model", "").messages(window.messages);
            prop_assert!(client().prepare(&request).is_ok());
        }
    }
}
