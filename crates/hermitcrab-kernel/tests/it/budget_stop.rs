//! The budgets: each one stops before the request, and the meter is the sum of the record.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hermitcrab_kernel::config::UsageTotals;
use hermitcrab_kernel::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, Event, EventSink, ScriptStep,
};
use llm_client::{Block, Cost, CostSource, Reply, StopReason, Usd};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, results};

const MODEL: &str = "claude-opus-5-5";

/// A model that costs something.
#[derive(Default)]
struct Paid {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<u32>,
}

impl Paid {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self {
            replies: Mutex::new(replies.into_iter().collect()),
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> u32 {
        *self.asked.lock().unwrap()
    }
}

#[async_trait]
impl Brain for Paid {
    fn info(&self) -> BrainInfo {
        BrainInfo::new("anthropic", MODEL, "claude-haiku-5-5")
    }

    async fn complete(
        &self,
        _: BrainRequest,
        _: EventSink,
        _: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        *self.asked.lock().unwrap() += 1;
        let reply = self.replies.lock().unwrap().pop_front();
        let reply = reply.ok_or_else(|| BrainError::Other("no more".to_owned()))?;
        Ok(BrainReply::new(reply, MODEL))
    }
}

fn dollars(amount: f64) -> Usd {
    Usd::from_dollars(amount).unwrap()
}

fn reply(content: Vec<Block>, stop: StopReason, cost: Option<f64>) -> Reply {
    let mut reply = Reply::new(MODEL, content, stop);
    reply.usage.input = 1_000;
    reply.usage.cache_read = 300;
    reply.usage.cache_write_5m = 20;
    reply.usage.cache_write_1h = 1;
    reply.usage.output = 50;
    reply.usage.known = true;
    if let Some(amount) = cost {
        reply.cost = Cost::new(dollars(amount), CostSource::Provider);
    }
    reply
}

fn answer(cost: f64) -> Reply {
    reply(vec![Block::text("Yes.")], StopReason::EndTurn, Some(cost))
}

fn tool(n: u32, cost: f64) -> Reply {
    let input = json!({"name": "skills", "path": format!("0.{n}")});
    let call = ScriptStep::tool_use(&format!("t{n}"), "block_read", &input);
    reply(vec![call], StopReason::ToolUse, Some(cost))
}

/// The sums of the lines of `usage.jsonl`.
fn on_record(dir: &Path) -> UsageTotals {
    let mut sum = UsageTotals::default();
    let text = fs::read_to_string(dir.join("usage.jsonl")).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = |field: &str| line[field].as_u64().unwrap();
        assert_eq!(line["model"], MODEL);
        sum.calls += 1;
        sum.input += number("input") + number("cached_read") + number("cached_write");
        sum.cached += number("cached_read");
        sum.output += number("output");
        match line["usd"].as_f64() {
            Some(usd) => sum.usd = sum.usd.checked_add(dollars(usd)).unwrap(),
            None => sum.unknown += 1,
        }
    }
    sum
}

#[tokio::test]
async fn the_meter_is_the_sum_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let paid = Paid::new([
        tool(1, 0.01),
        answer(0.02),
        reply(vec![Block::text("?")], StopReason::EndTurn, None),
    ]);
    let place = Setting::default().in_dir(dir.path()).open(paid).unwrap();
    let report = place.say("Read").await;
    assert_eq!((report.usage.calls, report.usage.usd), (2, dollars(0.03)));
    assert_eq!(
        (report.usage.input, report.usage.cached, report.usage.output),
        (2_642, 600, 100)
    );
    place.say("Again").await;
    let usage = place.kernel.usage();
    assert_eq!((usage.turn.calls, usage.turn.unknown), (1, 1));
    assert_eq!(usage.total, on_record(dir.path()));
    assert_eq!((usage.day, usage.run), (usage.total, usage.total));
    // What a face is told is the same.
    let events = place.events.lock().unwrap().clone();
    let last = events.iter().rev().find_map(|event| match event {
        Event::Usage(usage) => Some(*usage),
        _ => None,
    });
    assert_eq!(last, Some(usage));

    let place = Setting::default()
        .after(&place, dir.path())
        .open(Paid::new([]))
        .unwrap();
    let again = place.kernel.usage();
    assert_eq!((again.total, again.day), (usage.total, usage.day));
    assert_eq!(
        (again.run, again.turn),
        (UsageTotals::default(), UsageTotals::default())
    );
}

/// Says something until the kernel refuses; answers the line.
async fn until_stopped(place: &Place, brain: &Paid, most: u32) -> String {
    for _ in 0..most {
        let before = brain.asked();
        let report = place.say("Go on").await;
        if let Some(line) = report.stopped {
            assert!(brain.asked() - before <= 1);
            return line;
        }
    }
    panic!("{most} turns and no limit");
}

#[tokio::test]
async fn the_budget_of_a_turn_stops_it_between_rounds() {
    let brain = Paid::new([tool(1, 0.2), tool(2, 0.2), tool(3, 0.2), answer(0.2)]);
    let place = Setting::default().open(brain.clone()).unwrap();
    let report = place.say("Read").await;
    let line = report.stopped.unwrap();
    assert!(
        line.contains("budgets.turn_usd") && !line.contains('\n'),
        "{line}"
    );
    assert!(brain.asked() <= 3 && brain.asked() >= 2);
    assert!(report.usage.usd <= dollars(0.6));
    // Whole, and the next turn has its own money.
    let said = place.kernel.messages().await;
    assert_eq!(results(said.last().unwrap()).len(), 1);
    assert!(place.say("And now?").await.usage.calls > 0);
}

#[tokio::test]
async fn the_budget_of_a_day_begins_anew_with_the_day() {
    let mut setting = Setting::default();
    setting.config.settings.budgets.day_usd = 1.0;
    let brain = Paid::new((0..10).map(|_| answer(0.5)));
    let place = setting.open(brain.clone()).unwrap();
    let line = until_stopped(&place, &brain, 4).await;
    assert!(line.contains("budgets.day_usd"), "{line}");
    let asked = brain.asked();
    assert_eq!(asked, 2);
    place.say("Please").await;
    assert_eq!(brain.asked(), asked, "nothing is sent");
    assert_eq!(place.kernel.messages().await.len(), 4, "nothing is stored");

    place.clock.advance(Duration::from_hours(24));
    assert_eq!(place.kernel.usage().day, UsageTotals::default());
    assert_eq!(place.say("Good morning").await.stopped, None);
    assert_eq!(place.kernel.usage().day.usd, dollars(0.5));
    assert_eq!(place.kernel.usage().total.usd, dollars(1.5));
}

#[tokio::test]
async fn the_day_of_another_run_counts() {
    let dir = tempfile::tempdir().unwrap();
    let settings = || {
        let mut setting = Setting::default();
        setting.config.settings.budgets.day_usd = 1.0;
        setting
    };
    let brain = Paid::new([answer(0.5), answer(0.5)]);
    let place = settings().in_dir(dir.path()).open(brain).unwrap();
    place.say("One").await;
    place.say("Two").await;
    let brain = Paid::new([answer(0.5)]);
    let place = settings()
        .after(&place, dir.path())
        .open(brain.clone())
        .unwrap();
    let line = until_stopped(&place, &brain, 1).await;
    assert!(line.contains("day_usd"), "{line}");
    assert_eq!(brain.asked(), 0);
}

#[tokio::test]
async fn the_cap_of_a_run_stops_it() {
    let mut setting = Setting::default();
    setting.config.max_usd = Some(dollars(0.5));
    let brain = Paid::new((0..10).map(|_| answer(0.2)));
    let place = setting.open(brain.clone()).unwrap();
    let line = until_stopped(&place, &brain, 5).await;
    assert!(line.contains("--max-usd"), "{line}");
    assert!(place.kernel.usage().run.usd <= dollars(0.6));
}

#[tokio::test]
async fn a_cap_of_nothing_sends_nothing() {
    let mut setting = Setting::default();
    setting.config.max_usd = Some(Usd::ZERO);
    let brain = Paid::new([answer(0.0)]);
    let place = setting.open(brain.clone()).unwrap();
    assert!(place.say("Hello").await.stopped.is_some());
    assert_eq!(brain.asked(), 0);
    // A boot, too: the safe face says why.
    let mut setting = Setting::page();
    setting.config.max_usd = Some(Usd::ZERO);
    let place = setting.open(brain.clone()).unwrap();
    let safe = place.boot().await.safe_face.unwrap();
    assert!(safe.reason.contains("--max-usd"), "{}", safe.reason);
    assert_eq!(brain.asked(), 0);
}

#[tokio::test]
async fn tokens_of_prompts_and_replies_have_their_limits() {
    let mut setting = Setting::default();
    setting.config.settings.budgets.input_tokens = 4_000;
    let brain = Paid::new((1..9).map(|n| tool(n, 0.0)));
    let place = setting.open(brain.clone()).unwrap();
    let line = place.say("Read").await.stopped.unwrap();
    assert!(line.contains("budgets.input_tokens"), "{line}");
    assert!(brain.asked() <= 3);

    let mut setting = Setting::default();
    setting.config.settings.budgets.output_tokens = 100;
    let brain = Paid::new((1..9).map(|n| tool(n, 0.0)));
    let place = setting.open(brain.clone()).unwrap();
    let line = place.say("Read").await.stopped.unwrap();
    assert!(line.contains("budgets.output_tokens"), "{line}");
    assert_eq!(brain.asked(), 2);
}

#[tokio::test]
async fn a_delegated_call_counts_and_is_stopped_too() {
    let mut setting = Setting::default();
    setting.config.max_usd = Some(dollars(0.5));
    let brain = Paid::new([answer(0.45), answer(0.45), answer(0.45)]);
    let place = setting.open(brain.clone()).unwrap();
    let ask = || place.tool("call_llm", json!({"prompt": "Sum up"}));
    assert_eq!(ask().await.content["text"], "Yes.");
    assert_eq!(place.kernel.usage().run.calls, 1);
    // The fast model is cheap: what decides is the money that is left.
    for _ in 0..3 {
        ask().await;
    }
    let outcome = ask().await;
    assert!(outcome.is_error);
    assert_eq!(outcome.content["error"], "budget");
    assert!(brain.asked() <= 2);
}
