//! Seeds without a stamp: nothing in any request tells them from what minds write.

use std::sync::Mutex;

use async_trait::async_trait;
use logosphere_core::config::{Scheduling, parse_init};
use logosphere_core::format::ParseMode;
use logosphere_core::journal::MemJournal;
use logosphere_core::{
    CallContext, ExperimentStart, LocalMind, Mind, MindError, MindInput, MindReply, Orchestrator,
    RunControl, WireRequest,
};

use crate::desk;

const INIT: &str = "Notes: ~init belongs here.
---
The tide returns what the harbour forgot.
---
We count the lamps at night.
---

---
~init
";

/// A mind that keeps every request.
struct Kept {
    mind: LocalMind,
    bodies: Mutex<Vec<String>>,
}

#[async_trait]
impl Mind for &Kept {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.mind.request(input)
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        let request = self.request(input)?;
        let body = String::from_utf8(request.body).unwrap();
        self.bodies.lock().unwrap().push(body);
        self.mind.respond(input, side).await
    }
}

/// Every request of a run of copiers, as bytes.
fn requests(stamp_seeds: bool, scheduling: Scheduling) -> Vec<String> {
    let settings = desk::settings(scheduling).with(|settings| {
        settings.mind = Some("copier:mu=0.2".to_owned());
        settings.max_rounds = 8;
        settings.stamp_seeds = stamp_seeds;
    });
    let init = parse_init(
        INIT.as_bytes(),
        ParseMode::Lenient,
        &settings.init_signature,
    )
    .unwrap();
    let kept = Kept {
        mind: desk::mind(&settings),
        bodies: Mutex::default(),
    };
    let ExperimentStart {
        effective,
        request_template,
        ..
    } = desk::start(&settings, &kept.mind);
    let seeds = init.stored(settings.stamp_seeds);
    let start = ExperimentStart::new(effective, "run".to_owned(), seeds, request_template);
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let mut run = Orchestrator::start(start, &kept, MemJournal::default(), clock, control).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    drop(run);
    kept.bodies.into_inner().unwrap()
}

#[test]
fn without_a_stamp_no_request_names_the_seeds() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let requests = requests(false, scheduling);
        assert_eq!(requests.len(), 32);
        assert!(requests.iter().all(|body| !body.contains("~init")));
        // They are read all the same: all four minds of a first round can read little else.
        let seeds = |body: &&String| body.contains("forgot.") || body.contains("at night.");
        assert!(requests.iter().filter(seeds).count() >= 4);
    }
}

#[test]
fn with_a_stamp_the_seeds_are_marked_and_their_copies_are_not() {
    let requests = requests(true, Scheduling::Sequential);
    let marked: usize = (requests.iter())
        .map(|body| body.matches("~init").count())
        .sum();
    let seeds: usize = (requests.iter())
        .map(|body| body.matches("forgot.").count() + body.matches("at night.").count())
        .sum();
    assert!(marked > 0);
    assert!(seeds > marked, "{seeds} {marked}");
}
