use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use llm_client::{
    Block, BlockKind, Cost, Error, LoopBounds, LoopStop, Message, Raw, Request, Role, Step,
    StopReason, ToolChoice, ToolResult, ToolSpec, Toolbox, Usd,
};
use serde_json::json;
use tokio::sync::{Barrier, Semaphore};

use crate::own_provider::{Own, StillClock, calls, reply, says};

/// Runs every tool by one function.
struct Tools<F> {
    names: Vec<&'static str>,
    run: F,
    /// How often the tools were read.
    read: AtomicUsize,
    steps: Mutex<Vec<String>>,
}

impl<F> Tools<F> {
    fn new(names: &[&'static str], run: F) -> Self {
        Self {
            names: names.to_vec(),
            run,
            read: AtomicUsize::new(0),
            steps: Mutex::default(),
        }
    }
}

impl<F: Fn(&str, &Raw) -> BoxFuture<'static, ToolResult> + Send + Sync> Toolbox for Tools<F> {
    fn specs(&self) -> Vec<ToolSpec> {
        self.read.fetch_add(1, Ordering::SeqCst);
        self.names.iter().map(|name| function(name)).collect()
    }

    fn call<'a>(&'a self, name: &'a str, input: &'a Raw) -> BoxFuture<'a, ToolResult> {
        (self.run)(name, input)
    }

    fn on_step(&self, step: Step<'_>) {
        let step = match step {
            Step::Reply { turn, reply } => format!("{turn} reply {:?}", reply.stop),
            Step::Call { turn, id, name, .. } => format!("{turn} call {id} {name}"),
            Step::Result {
                turn, id, result, ..
            } => format!("{turn} result {id} {}", result.is_error),
            _ => "?".to_owned(),
        };
        self.steps.lock().unwrap().push(step);
    }
}

fn function(name: &str) -> ToolSpec {
    ToolSpec::Function {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
        strict: None,
    }
}

/// Every tool answers its name.
fn named(name: &str, _: &Raw) -> BoxFuture<'static, ToolResult> {
    ready(ToolResult::text(name)).boxed()
}

/// Every tool fails the test.
fn never(name: &str, _: &Raw) -> BoxFuture<'static, ToolResult> {
    panic_any(format!("{name} must not be run"))
}

fn ask() -> Request {
    Request::new("m", "go")
}

/// The results of a message: id, text, whether it is an error.
fn results(message: &Message) -> Vec<(String, String, bool)> {
    message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => Some((
                tool_use_id.clone(),
                content.iter().filter_map(Block::as_text).collect(),
                *is_error,
            )),
            _ => None,
        })
        .collect()
}

/// The text and error mark of the only result of a call of `name` with `input`.
async fn result_of(name: &str, input: &str, tools: &dyn Toolbox) -> (String, bool) {
    let limit = Duration::from_secs(7);
    let clock = StillClock { ends: Some(limit) };
    let (client, own) = Own::replies([calls(&[("a", name, input)]), says("done")])
        .client_at(clock)
        .unwrap();
    let bounds = LoopBounds {
        tool_timeout: limit,
        ..LoopBounds::default()
    };
    let outcome = client.run_tools(ask(), tools, bounds).await.unwrap();
    assert_eq!(outcome.reply.text(), "done");
    let seen = results(&own.requests()[1].messages[2]);
    let [(_, text, is_error)] = &seen[..] else {
        unreachable!("one result: {seen:?}")
    };
    (text.clone(), *is_error)
}

#[tokio::test]
async fn calls_run_at_once_and_are_answered_in_order_in_one_message() {
    let all_run = Arc::new(Barrier::new(3));
    let ended = Arc::new(Semaphore::new(0));
    let tools = Tools::new(&["t"], move |_: &str, input: &Raw| {
        let (all_run, ended) = (all_run.clone(), ended.clone());
        let n: serde_json::Value = input.to().unwrap();
        let before = n["n"].as_u64().unwrap() as u32;
        async move {
            all_run.wait().await;
            // The last call ends first.
            ended.acquire_many(before).await.unwrap().forget();
            ended.add_permits(before as usize + 1);
            ToolResult::text(before.to_string())
        }
        .boxed()
    });
    let three = calls(&[
        ("a", "t", r#"{"n":2}"#),
        ("b", "t", r#"{"n":1}"#),
        ("c", "t", r#"{"n":0}"#),
    ]);
    let (client, own) = Own::replies([three.clone(), says("done")])
        .client()
        .unwrap();
    let outcome = client
        .run_tools(ask(), &tools, LoopBounds::default())
        .await
        .unwrap();

    let sent = &own.requests()[1].messages;
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1], three.to_message());
    assert_eq!(sent[2].role, Role::User);
    assert_eq!(sent[2].content.len(), 3);
    let expected =
        [("a", "2"), ("b", "1"), ("c", "0")].map(|(id, text)| (id.into(), text.into(), false));
    assert_eq!(results(&sent[2]), expected);
    assert_eq!(outcome.history[..3], sent[..]);
    assert_eq!(outcome.history[3], says("done").to_message());
    assert_eq!((outcome.turns, outcome.usage.total()), (2, 40));
    assert_eq!(outcome.cost.usd, Some(Usd(20_000_000)));
    let steps = tools.steps.lock().unwrap();
    assert_eq!(
        steps[..4],
        ["1 reply ToolUse", "1 call a t", "1 call b t", "1 call c t"]
    );
    assert_eq!(
        steps[4..],
        [
            "1 result c false",
            "1 result b false",
            "1 result a false",
            "2 reply EndTurn"
        ]
    );
}

#[tokio::test]
async fn no_more_tools_run_at_the_same_time_than_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = most.clone();
    let tools = Tools::new(&["t"], move |_: &str, _: &Raw| {
        let (running, most) = (running.clone(), most.clone());
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
            ToolResult::text("")
        }
        .boxed()
    });
    for (parallel, expected) in [(1, 1), (0, 1), (2, 2), (8, 4)] {
        peak.store(0, Ordering::SeqCst);
        let four = calls(&[
            ("a", "t", "{}"),
            ("b", "t", "{}"),
            ("c", "t", "{}"),
            ("d", "t", "{}"),
        ]);
        let (client, _) = Own::replies([four, says("done")]).client().unwrap();
        let bounds = LoopBounds {
            parallel,
            ..LoopBounds::default()
        };
        client.run_tools(ask(), &tools, bounds).await.unwrap();
        assert_eq!(peak.load(Ordering::SeqCst), expected, "{parallel}");
    }
}

#[tokio::test]
async fn an_id_is_answered_once_even_if_it_comes_twice() {
    let twice = calls(&[("a", "t", "{}"), ("a", "t", "{}")]);
    let (client, own) = Own::replies([twice, says("done")]).client().unwrap();
    let tools = Tools::new(&["t"], named);
    client
        .run_tools(ask(), &tools, LoopBounds::default())
        .await
        .unwrap();
    assert_eq!(results(&own.requests()[1].messages[2]).len(), 1);
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_result_that_names_the_others() {
    let (text, is_error) = result_of("x", "{}", &Tools::new(&["t", "u"], never)).await;
    assert!(
        is_error && text == "there is no tool x; the tools are: t, u",
        "{text}"
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_are_never_run() {
    let (text, is_error) = result_of("t", r#"{"n": 1"#, &Tools::new(&["t"], never)).await;
    assert!(is_error && text.contains("not valid JSON"), "{text}");
}

#[cfg(feature = "schema")]
#[tokio::test]
async fn arguments_against_the_schema_are_never_run() {
    for (input, expected) in [
        (r#"{"n": "one"}"#, "/n"),
        ("[]", "object"),
        (r#"{"n": 1, "n": 2}"#, "twice"),
    ] {
        let (text, is_error) = result_of("t", input, &Tools::new(&["t"], never)).await;
        assert!(is_error && text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_panic_is_an_error_result_without_its_text() {
    let late = |_: &str, _: &Raw| async { panic_any("secret") }.boxed();
    let early = |_: &str, _: &Raw| -> BoxFuture<'static, ToolResult> { panic_any("secret") };
    let late = result_of("t", "{}", &Tools::new(&["t"], late)).await;
    assert_eq!(late, result_of("t", "{}", &Tools::new(&["t"], early)).await);
    assert!(
        late.1 && late.0.contains("crashed") && !late.0.contains("secret"),
        "{late:?}"
    );
}

#[tokio::test]
async fn a_slow_tool_is_stopped_with_an_error_result() {
    let (text, is_error) = result_of(
        "t",
        "{}",
        &Tools::new(&["t"], |_: &str, _: &Raw| pending().boxed()),
    )
    .await;
    assert_eq!(
        (text.as_str(), is_error),
        ("t was stopped: it took longer than 7 s", true)
    );
}

#[tokio::test]
async fn a_failed_tool_and_a_good_one_are_told_apart() {
    let fails = |_: &str, _: &Raw| ready(ToolResult::error("disk full")).boxed();
    assert_eq!(
        result_of("t", "{}", &Tools::new(&["t"], fails)).await,
        ("disk full".into(), true)
    );
    assert_eq!(
        result_of("t", "{}", &Tools::new(&["t"], named)).await,
        ("t".into(), false)
    );
}

#[tokio::test]
async fn tools_of_a_cut_reply_are_never_run_and_leave_the_history_sendable() {
    for stop in [
        StopReason::MaxTokens,
        StopReason::ContextWindow,
        StopReason::Refusal,
        StopReason::Error,
    ] {
        let mut cut = calls(&[("a", "t", "{}")]);
        cut.stop = stop.clone();
        let (client, own) = Own::replies([cut.clone()]).client().unwrap();
        let tools = Tools::new(&["t"], never);
        let outcome = client
            .run_tools(ask(), &tools, LoopBounds::default())
            .await
            .unwrap();
        assert_eq!(outcome.reply.stop, stop);
        assert_eq!(outcome.reply.content, cut.content);
        assert_eq!(outcome.history, own.requests()[0].messages);
    }
}

#[tokio::test]
async fn a_cut_stream_runs_no_tool_and_keeps_the_history() {
    let own = Own::new(|n, _| match n {
        0 => Ok(calls(&[("a", "t", "{}")])),
        _ => Err(Error::StreamTruncated {
            partial: Box::new(calls(&[("b", "t", "{}")])),
            trail: Box::default(),
        }),
    });
    let (client, _) = own.client().unwrap();
    let runs = AtomicUsize::new(0);
    let tools = Tools::new(&["t"], |name: &str, input: &Raw| {
        runs.fetch_add(1, Ordering::SeqCst);
        named(name, input)
    });
    let error = client
        .run_tools(ask(), &tools, LoopBounds::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error.stop, LoopStop::Call(Error::StreamTruncated { .. })),
        "{error}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(error.so_far.history.len(), 3);
    let last = error.so_far.last.map(|reply| reply.content);
    assert_eq!(last, Some(calls(&[("a", "t", "{}")]).content));
}

#[tokio::test]
async fn tools_for_ever_end_at_the_bound_and_the_history_goes_on() {
    let own = Own::new(|n, request| {
        // A real provider gives every call its own id.
        let open = format!("call{n}");
        Ok(match request.messages.len() {
            11.. => says("done"),
            _ => calls(&[(&open, "t", "{}")]),
        })
    });
    let (client, _) = own.client().unwrap();
    let tools = Tools::new(&["t"], named);
    let bounds = LoopBounds {
        max_turns: 3,
        ..LoopBounds::default()
    };
    let error = client.run_tools(ask(), &tools, bounds).await.unwrap_err();
    assert!(matches!(error.stop, LoopStop::Turns(3)), "{error}");
    assert_eq!((error.so_far.turns, error.so_far.history.len()), (3, 7));
    assert_eq!(error.so_far.cost.usd, Some(Usd(30_000_000)));

    let request = Request {
        messages: error.so_far.history,
        ..ask()
    };
    let outcome = client.run_tools(request, &tools, bounds).await.unwrap();
    assert_eq!((outcome.turns, outcome.reply.text()), (3, "done".into()));
}

#[tokio::test]
async fn a_pause_is_sent_back_unchanged_with_the_same_tools() {
    let search = Block {
        raw: Raw::parse(r#"{"type":"server_tool_use","id":"s", "name":"web_search","input":{}}"#)
            .ok(),
        ..Block::new(BlockKind::ServerToolUse {
            id: "s".into(),
            name: "web_search".into(),
        })
    };
    let paused = reply(vec![search.clone()], StopReason::PauseTurn);
    let (client, own) = Own::replies([paused, says("found")]).client().unwrap();
    let tools = Tools::new(&["t"], never);
    let server = ToolSpec::Server(
        Raw::parse(r#"{"type":"web_search_20260318","name":"web_search"}"#).unwrap(),
    );
    let request = Request {
        tools: vec![server.clone()],
        ..ask()
    };
    let outcome = client
        .run_tools(request, &tools, LoopBounds::default())
        .await
        .unwrap();
    assert_eq!(outcome.reply.text(), "found");
    let sent = own.requests();
    assert_eq!(sent[1].messages[1].content, [search]);
    assert_eq!(sent[1].messages.len(), 2);
    assert_eq!(sent[0].tools, [server, function("t")]);
    assert_eq!(sent[1].tools, sent[0].tools);
    assert_eq!(tools.read.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_of_a_paused_reply_are_answered() {
    let mut paused = calls(&[("a", "t", "{}")]);
    paused.stop = StopReason::PauseTurn;
    let (client, own) = Own::replies([paused, says("done")]).client().unwrap();
    let tools = Tools::new(&["t"], named);
    let bounds = LoopBounds::default();
    client.run_tools(ask(), &tools, bounds).await.unwrap();
    let answered = results(&own.requests()[1].messages[2]);
    assert_eq!(answered, [("a".into(), "t".into(), false)]);
}

#[tokio::test]
async fn pauses_for_ever_end_at_the_bound() {
    let own = Own::new(|_, _| Ok(reply(vec![Block::text("...")], StopReason::PauseTurn)));
    let (client, own) = own.client().unwrap();
    let tools = Tools::new(&["t"], never);
    let error = client
        .run_tools(ask(), &tools, LoopBounds::default())
        .await
        .unwrap_err();
    assert!(matches!(error.stop, LoopStop::Pauses(5)), "{error}");
    assert_eq!(own.requests().len(), 6);
    assert_eq!(error.so_far.history.len(), 7);
}

#[tokio::test]
async fn the_money_bound_ends_the_loop_and_needs_known_costs() {
    let run = async |cost: Cost| {
        let own = Own::new(move |n, _| {
            let mut reply = calls(&[(&n.to_string(), "t", "{}")]);
            reply.cost = cost.clone();
            Ok(reply)
        });
        let (client, _) = own.client().unwrap();
        let bounds = LoopBounds {
            max_usd: Some(Usd(15_000_000)),
            ..LoopBounds::default()
        };
        let tools = Tools::new(&["t"], named);
        client.run_tools(ask(), &tools, bounds).await.unwrap_err()
    };
    let error = run(calls(&[]).cost).await;
    assert!(
        matches!(
            error.stop,
            LoopStop::Usd {
                spent: Usd(20_000_000),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.so_far.turns, 2);
    let error = run(Cost::UNKNOWN).await;
    assert!(
        matches!(error.stop, LoopStop::Call(Error::PriceUnknown { .. })),
        "{error}"
    );
    let error = run(Cost::FREE).await;
    assert!(matches!(error.stop, LoopStop::Turns(20)), "{error}");
}

#[tokio::test]
async fn tools_may_come_and_go_and_a_forced_choice_holds_once() {
    struct Growing(AtomicUsize);
    impl Toolbox for Growing {
        fn specs(&self) -> Vec<ToolSpec> {
            let known = self.0.fetch_add(1, Ordering::SeqCst);
            ["t", "u", "v"][..=known]
                .iter()
                .map(|name| function(name))
                .collect()
        }

        fn call<'a>(&'a self, name: &'a str, _: &'a Raw) -> BoxFuture<'a, ToolResult> {
            ready(ToolResult::text(name)).boxed()
        }
    }
    let replies = [
        calls(&[("a", "t", "{}")]),
        calls(&[("b", "u", "{}")]),
        says("done"),
    ];
    let (client, own) = Own::replies(replies).client().unwrap();
    let request = Request {
        tool_choice: ToolChoice::Any,
        ..ask()
    };
    let tools = Growing(AtomicUsize::new(0));
    let outcome = client
        .run_tools(request, &tools, LoopBounds::default())
        .await
        .unwrap();
    assert_eq!(
        results(&outcome.history[4]),
        [("b".into(), "u".into(), false)]
    );
    let sent = own.requests();
    assert_eq!(
        sent.iter()
            .map(|request| request.tools.len())
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(sent[0].tool_choice, ToolChoice::Any);
    assert_eq!(sent[1].tool_choice, ToolChoice::Unset);
}

#[tokio::test]
async fn dropping_the_loop_drops_its_tools() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (started, dropped) = (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)));
    let (start, guards) = (started.clone(), dropped.clone());
    let tools = Tools::new(&["t"], move |_: &str, _: &Raw| {
        let (start, guard) = (start.clone(), Dropped(guards.clone()));
        async move {
            let _guard = guard;
            start.wait().await;
            pending().await
        }
        .boxed()
    });
    let (client, _) = Own::replies([calls(&[("a", "t", "{}"), ("b", "t", "{}")])])
        .client()
        .unwrap();
    tokio::select! {
        _ = client.run_tools(ask(), &tools, LoopBounds::default()) => unreachable!("the tools never end"),
        _ = started.wait() => {}
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_loop_can_run_in_a_task_of_its_own() {
    let (client, _) = Own::replies([calls(&[("a", "t", "{}")]), says("done")])
        .client()
        .unwrap();
    let task = tokio::spawn(async move {
        let tools = Tools::new(&["t"], named);
        client.run_tools(ask(), &tools, LoopBounds::default()).await
    });
    assert_eq!(task.await.unwrap().unwrap().turns, 2);
}

#[tokio::test]
async fn an_empty_last_reply_stays_out_of_the_history() {
    let (client, _) = Own::replies([reply(vec![], StopReason::EndTurn)])
        .client()
        .unwrap();
    let tools = Tools::new(&[], never);
    let outcome = client
        .run_tools(ask(), &tools, LoopBounds::default())
        .await
        .unwrap();
    assert_eq!(outcome.history.len(), 1);
}

#[tokio::test]
async fn a_toolbox_without_tools_says_so() {
    let (text, is_error) = result_of("t", "{}", &Tools::new(&[], never)).await;
    assert!(is_error);
    assert_eq!(text, "there is no tool t, and no other one");
}
