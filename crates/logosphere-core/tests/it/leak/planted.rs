//! Eight leaks and more, planted where a client or an orchestrator could have them.

use logosphere_core::config::Scheduling;
use logosphere_core::format::{format_prompt, sha256_hex};
use logosphere_core::journal::{Event, JournalSink as _, MemJournal, Reader};
use logosphere_core::pool::MessageId;
use logosphere_core::verify::leak::{Captured, Finding, LeakKind, Severity, check_start};
use logosphere_core::{
    ExperimentStart, Mind, MindId, RequestTemplate, Round, RunError, Settings, WireRequest,
};
use serde_json::{Value, json};

use super::{Plant, leaks, run, search};
use crate::desk;

fn alter(request: &mut WireRequest, change: impl FnOnce(&mut Value)) {
    let before: Value = serde_json::from_slice(&request.body).unwrap();
    let mut body = before.clone();
    change(&mut body);
    if body != before {
        request.body = serde_json::to_vec(&body).unwrap();
    }
}

fn alter_prompt(request: &mut WireRequest, change: impl FnOnce(&str) -> String) {
    alter(request, |body| {
        let content = &mut body["messages"][0]["content"];
        *content = change(content.as_str().unwrap()).into();
    });
}

/// The mind's number as it stands in a call's key.
fn mind(call: &str) -> &str {
    call.split_once('/').unwrap().1
}

/// A leak of a client: the kind that it is found as, and a part of the finding's text.
const PLANTS: [(&str, Plant, LeakKind, &str); 13] = [
    (
        "a header with the mind's number",
        |request, call| {
            request
                .headers
                .push(("x-mind".to_owned(), mind(call).to_owned()));
        },
        LeakKind::Header,
        "`x-mind`",
    ),
    (
        "a header that every request has, with the round",
        |request, call| request.headers[0].1 = format!("application/json; q={call}"),
        LeakKind::Header,
        "`content-type`",
    ),
    (
        "headers in another order for one mind",
        |request, call| {
            if mind(call) == "1" {
                request.headers.reverse();
            }
        },
        LeakKind::Header,
        "another order",
    ),
    (
        "a user field",
        |request, call| alter(request, |body| body["user"] = call.into()),
        LeakKind::Field,
        "`user` with \"1/0\"",
    ),
    (
        "an extra message",
        |request, call| {
            alter(request, |body| {
                let turn = json!({"role": "system", "content": format!("call {call}")});
                body["messages"].as_array_mut().unwrap().insert(0, turn);
            });
        },
        LeakKind::Turn,
        "has 2 entries, expected 1",
    ),
    (
        "messages by age",
        |request, _| {
            alter_prompt(request, |prompt| {
                let mut parts: Vec<_> = prompt.split("\n---\n").collect();
                parts[1..].sort_unstable();
                parts.join("\n---\n")
            });
        },
        LeakKind::Prompt,
        "another order",
    ),
    (
        "a trailing count",
        |request, _| {
            alter_prompt(request, |prompt| {
                let count = prompt.matches("\n---\n").count();
                format!("{prompt}\n\n({count} messages)")
            });
        },
        LeakKind::Prompt,
        "the prompt is followed by \"\\n\\n(3 messages)\"",
    ),
    (
        "message ids",
        |request, call| {
            alter_prompt(request, |prompt| {
                prompt.replacen("\n---\n", &format!("\n---\n[{call}] "), 1)
            });
        },
        LeakKind::Prompt,
        "from byte",
    ),
    (
        "a clock in the system prompt",
        |request, call| {
            alter_prompt(request, |prompt| {
                format!("It is 2026-01-02T03:04:05Z, call {call}.\n{prompt}")
            });
        },
        LeakKind::Prompt,
        "It is 2026-01-02T03:04:05Z",
    ),
    (
        "the mind's number in a sampling option",
        |request, call| {
            let seed: u64 = mind(call).parse().unwrap();
            alter(request, |body| body["seed"] = seed.into());
        },
        LeakKind::Field,
        "`seed` with",
    ),
    (
        "the mind's number in the token limit",
        |request, call| {
            let more: u64 = mind(call).parse().unwrap();
            alter(request, |body| body["max_tokens"] = (2001 + more).into());
        },
        LeakKind::Field,
        "`max_tokens` is",
    ),
    (
        "spaces that count",
        |request, call| {
            request
                .body
                .extend(" ".repeat(1 + mind(call).len()).bytes());
        },
        LeakKind::Body,
        "other bytes",
    ),
    (
        "something that is no JSON",
        |request, _| request.body.truncate(20),
        LeakKind::Body,
        "not JSON",
    ),
];

#[test]
fn what_a_client_sends_besides_the_prompt_is_found() {
    for (name, plant, kind, detail) in PLANTS {
        for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
            let (journal, sent) = run(&desk::settings(scheduling), plant);
            let report = search(&journal, sent);
            assert!(!report.holds, "{name}");
            let leaks = leaks(&report);
            let seen = |(found, text): &(LeakKind, &str)| *found == kind && text.contains(detail);
            assert!(leaks.iter().any(seen), "{name}: {leaks:#?}");
            assert!(
                leaks.iter().all(|(found, _)| *found == kind),
                "{name}: {leaks:#?}"
            );
        }
    }
}

#[test]
fn a_secret_that_changes_is_not_shown() {
    let (journal, sent) = run(&desk::settings(Scheduling::Sequential), |request, call| {
        request.headers[1].1 = format!("Bearer sk-{call}");
    });
    let report = search(&journal, sent);
    let [(LeakKind::Header, detail)] = leaks(&report)[..] else {
        panic!("{:?}", report.findings);
    };
    assert!(
        detail.contains("authorization") && !detail.contains("sk-"),
        "{detail}"
    );
}

#[test]
fn a_request_of_another_run_is_found() {
    let settings = desk::settings(Scheduling::Sequential);
    let (journal, _) = run(&settings, super::nothing);
    let other = settings.with(|settings| settings.seed = 7);
    let (_, sent) = run(&other, super::nothing);
    let report = search(&journal, sent);
    assert!(!report.holds);
    // Far more of them than are explained.
    let body = |number: u32| {
        Captured::new(
            number.to_string(),
            Some(format!("{{\"n\":{number}}}").into_bytes()),
            None,
        )
    };
    let report = search(&journal, (0..500).map(body).collect());
    assert_eq!((report.captured, report.equal), (500, 0));
    let times = |kind| -> u64 {
        let of_kind = report
            .findings
            .iter()
            .filter(|finding| finding.kind == kind);
        of_kind.map(|finding| finding.times).sum()
    };
    assert_eq!(times(LeakKind::Body), 400);
}

/// Returns the journal with each of its events changed and its chain computed again.
fn forged(journal: &[u8], mut change: impl FnMut(&mut Event)) -> Vec<u8> {
    let mut reader = Reader::new(journal);
    let mut forged = MemJournal::default();
    while let Some(entry) = reader.next_entry().unwrap() {
        let mut line = entry.line.unwrap();
        change(&mut line.event);
        forged.append(&line.timestamp, &line.event).unwrap();
    }
    forged.bytes
}

/// A run whose orchestrator changes what minds read, and writes it down faithfully.
fn orchestrated(change: impl Fn(&mut Vec<MessageId>, &mut Vec<String>)) -> Vec<u8> {
    let settings = desk::settings(Scheduling::Sequential);
    let (journal, _) = run(&settings, super::nothing);
    let mut template = None;
    forged(&journal, |event| match event {
        Event::ExperimentStart(start) => template = Some(start.request_template.clone()),
        Event::MindInvocation(call) => {
            change(&mut call.sampled_ids, &mut call.input_messages);
            let texts = call.input_messages.iter().map(String::as_str);
            let prompt = format_prompt(&settings.prompt(), texts);
            call.prompt_sha256 = prompt.sha256();
            call.request_sha256 = sha256_hex(template.as_ref().unwrap().fill(prompt.user()));
        }
        _ => {}
    })
}

#[test]
fn what_an_orchestrator_puts_into_prompts_is_found() {
    let report = search(&orchestrated(|_, _| {}), Vec::new());
    assert_eq!(leaks(&report), []);

    let by_age = orchestrated(|ids, texts| {
        let mut pairs: Vec<_> = ids.drain(..).zip(texts.drain(..)).collect();
        pairs.sort_unstable();
        (*ids, *texts) = pairs.into_iter().unzip();
    });
    let report = search(&by_age, Vec::new());
    assert_eq!(leaks(&report)[0].0, LeakKind::Sample);

    let newest = orchestrated(|ids, texts| {
        // One message more than the seed draws.
        ids.push(MessageId(0));
        texts.push(String::from(
            "the river keeps what the bridge forgets\n\n~init",
        ));
    });
    assert_eq!(leaks(&search(&newest, Vec::new()))[0].0, LeakKind::Sample);

    for change in [
        (|texts: &mut Vec<String>| texts[0].insert_str(0, "[12] ")) as fn(&mut Vec<String>),
        |texts| texts[0].push_str("\n(3 of 6)"),
        |texts| texts.push("You are mind 2.".to_owned()),
    ] {
        let report = search(&orchestrated(|_, texts| change(texts)), Vec::new());
        let kinds: Vec<_> = leaks(&report).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [LeakKind::Prompt, LeakKind::Body]);
    }
}

#[test]
fn a_hash_that_the_prompt_does_not_make_is_found() {
    let settings = desk::settings(Scheduling::Snapshot);
    let (journal, _) = run(&settings, super::nothing);
    for (kind, place) in [(LeakKind::Prompt, 0), (LeakKind::Body, 1)] {
        let forged = forged(&journal, |event| {
            if let Event::MindInvocation(call) = event
                && (call.round, call.mind_id) == (Round(3), MindId(2))
            {
                let hashes = [&mut call.prompt_sha256, &mut call.request_sha256];
                *hashes.into_iter().nth(place).unwrap() = sha256_hex("other");
            }
        });
        let report = search(&forged, Vec::new());
        let [finding] = &report.findings[..1] else {
            panic!()
        };
        assert_eq!((finding.kind, finding.times), (kind, 1));
        assert!(
            finding.place.starts_with("round 3, mind 2 (line "),
            "{}",
            finding.place
        );
    }
}

/// Returns the findings in a first event.
fn in_start(settings: &Settings, change: impl FnOnce(&mut RequestTemplate)) -> Vec<Finding> {
    let mind = desk::mind(settings);
    let mut start: ExperimentStart = desk::start(settings, &mind);
    change(&mut start.request_template);
    for seed in &mut start.seeds {
        seed.text = seed.text.replace("\n\n~init", "");
    }
    check_start(
        &start,
        &["/home/somebody/experiments/2026-01-02-first-run".to_owned()],
    )
}

#[test]
fn what_every_request_has_is_searched() {
    let settings = desk::settings(Scheduling::Sequential);
    assert_eq!(in_start(&settings, |_| {}), []);
    let plant = |name: &str, value: &str| {
        in_start(&settings, |template| {
            template.body[0].insert_str(1, &format!("{name:?}:{value},"));
        })
    };
    for (name, value) in [
        ("user", "\"2026-01-02-first-run\""),
        ("metadata", "{\"round\":1}"),
        ("seed", "42"),
        ("temperature", "0.7"),
        ("max_completion_tokens", "2001"),
        ("reasoning", "{\"effort\":\"low\"}"),
        ("stream_options", "{\"include_usage\":false}"),
        ("stop", "[]"),
    ] {
        let [finding] = &plant(name, value)[..] else {
            panic!("{name}")
        };
        assert_eq!(finding.kind, LeakKind::Field);
        assert!(finding.detail.contains(name), "{}", finding.detail);
    }
    for turns in [
        |body: &mut [String; 2]| {
            body[0] = body[0].replace(
                "\"messages\":[",
                "\"messages\":[{\"role\":\"system\",\"content\":\"Hello.\"},",
            );
        },
        |body: &mut [String; 2]| body[0].push_str("Dear mind, "),
        |body: &mut [String; 2]| body[1].insert_str(0, " (end)"),
        |body: &mut [String; 2]| body[1] = body[1].replacen('}', ",\"name\":\"mind\"}", 1),
        |body: &mut [String; 2]| body[0] = body[0].replace("\"user\"", "\"assistant\""),
    ] {
        let found = in_start(&settings, |template| turns(&mut template.body));
        assert!(
            !found.is_empty() && found.iter().all(|finding| finding.kind == LeakKind::Turn),
            "{found:#?}"
        );
    }
    let found = in_start(&settings, |template| template.body[0].clear());
    assert_eq!(found[0].kind, LeakKind::Body);
    for name in [
        "x-request-id",
        "Idempotency-Key",
        "traceparent",
        "x-round",
        "date",
        "cookie",
    ] {
        let found = in_start(&settings, |template| {
            template.header_names.push(name.to_owned());
        });
        let [finding] = &found[..] else {
            panic!("{name}")
        };
        assert_eq!(finding.kind, LeakKind::Header);
    }
}

#[test]
fn options_of_the_settings_are_no_leak() {
    let mut settings = desk::settings(Scheduling::Sequential);
    settings.options.temperature = Some(0.7);
    settings.options.seed = Some(42);
    settings.options.reasoning = Some("low".to_owned());
    settings.options.top_p = Some(1.0);
    assert_eq!(in_start(&settings, |_| {}), []);
    // One that is not as it was set.
    let found = in_start(&settings, |template| {
        template.body = template
            .body
            .each_ref()
            .map(|part| part.replace("0.7", "0.8"));
    });
    assert_eq!(found[0].kind, LeakKind::Field);
}

#[test]
fn metadata_in_the_system_prompt_is_found() {
    for (text, kind) in [
        ("It is 2026-01-02.", LeakKind::Time),
        ("It is 1999-12-31.", LeakKind::Time),
        ("The time is 03:04.", LeakKind::Time),
        ("Now: 2026-01-02T03:04:05.678Z", LeakKind::Time),
        ("Now: 1767312000", LeakKind::Time),
        ("Now: 1767312000123", LeakKind::Time),
        ("Today is January 2, 2026.", LeakKind::Time),
        ("Today is 2 Jan 2026.", LeakKind::Time),
        ("Fri, 02 Jan 2026 03:04:05 GMT", LeakKind::Time),
        ("This is round 17.", LeakKind::Round),
        ("Round: 1", LeakKind::Round),
        ("There are 5 rounds.", LeakKind::Round),
        ("You are mind 3.", LeakKind::Mind),
        ("mind_id=0", LeakKind::Mind),
        ("You are Agent #2", LeakKind::Mind),
        ("You are one of 4 minds.", LeakKind::Count),
        ("You read 3 messages.", LeakKind::Amount),
        ("N=4", LeakKind::Count),
        ("K = 3", LeakKind::Count),
        ("Message 2 is the oldest.", LeakKind::Message),
        ("Read.\n[2] is the oldest.", LeakKind::Message),
        ("Write at most 2000 tokens.", LeakKind::Cost),
        ("This is attempt 2.", LeakKind::Retry),
        (
            "You are in 2026-01-02-first-run, at /home/somebody/experiments/2026-01-02-first-run.",
            LeakKind::Name,
        ),
        ("You run on model-7b.", LeakKind::Model),
    ] {
        let settings = desk::settings(Scheduling::Sequential).with(|settings| {
            settings.model = "maker/model-7b".into();
            settings.system_prompt = format!("You receive messages.\n{text}\nRead them.");
        });
        let found = in_start(&settings, |_| {});
        let severity = match kind {
            LeakKind::Amount | LeakKind::Cost => Severity::ByDesign,
            _ => Severity::Leak,
        };
        assert!(
            found
                .iter()
                .any(|finding| (finding.kind, finding.severity) == (kind, severity)),
            "{text}: {found:#?}"
        );
        assert!(
            found.iter().all(|finding| finding.place == "system_prompt"),
            "{text}"
        );
    }
    for text in [
        "Write at most 5 messages of 100 words, in 2 languages.",
        "It is said that 1984 came late; 50 minds saw 12 moons around 3.14.",
        "A mind. 3 things matter. Rounds are dull.",
        "Not a model: 7b.",
    ] {
        let settings = desk::settings(Scheduling::Sequential).with(|settings| {
            settings.model = "maker/model-7b".into();
            settings.system_prompt = text.into();
        });
        assert_eq!(in_start(&settings, |_| {}), [], "{text}");
    }
}

/// A mind whose requests differ from call to call although it is asked the same way.
struct Counting {
    mind: logosphere_core::LocalMind,
    calls: std::sync::atomic::AtomicU32,
    plant: Plant,
}

#[async_trait::async_trait]
impl Mind for Counting {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(
        &self,
        input: &logosphere_core::MindInput,
    ) -> Result<WireRequest, logosphere_core::MindError> {
        let mut request = WireRequest::local(input);
        let call = self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        (self.plant)(&mut request, &call.to_string());
        Ok(request)
    }

    async fn respond(
        &self,
        input: &logosphere_core::MindInput,
        side: &logosphere_core::CallContext,
    ) -> Result<logosphere_core::MindReply, logosphere_core::MindError> {
        self.mind.respond(input, side).await
    }
}

#[test]
fn a_run_stops_before_it_sends_something_else() {
    let plants: [Plant; 4] = [
        |request, call| request.headers.push(("x-call".to_owned(), call.to_owned())),
        |request, call| alter(request, |body| body["user"] = call.into()),
        |request, call| alter_prompt(request, |prompt| format!("{prompt}\n{call}")),
        |request, call| {
            alter(request, |body| {
                body["seed"] = call.parse::<u64>().unwrap().into();
            });
        },
    ];
    for plant in plants {
        let settings = desk::settings(Scheduling::Snapshot);
        let mind = Counting {
            mind: desk::mind(&settings),
            calls: 0.into(),
            plant,
        };
        let (summary, journal) =
            desk::try_run(&settings, mind, logosphere_core::RunControl::default());
        assert!(
            matches!(
                summary,
                Err(RunError::Leak {
                    round: Round(1),
                    ..
                })
            ),
            "{summary:?}"
        );
        assert!(
            !String::from_utf8(journal)
                .unwrap()
                .contains("mind_invocation")
        );
    }
}
