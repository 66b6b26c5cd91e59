//! Cassettes of an earlier version of the client, which still had a chain of models: they replay to what was answered.

use super::*;

fn question(text: &str) -> Request {
    let mut asked = Request::new("model-1", text);
    asked.max_tokens = Some(500);
    asked
}

#[tokio::test]
async fn cassettes_of_an_earlier_version_replay_also_those_with_a_chain() {
    for (wire, name) in [(Wire::Anthropic, "anthropic"), (Wire::Openai, "openai")] {
        let path = test_support::fixture(format!("llm-client/cassettes/{name}.jsonl"));
        for form in [Form::Whole, Form::Stream] {
            let replaying = client(wire, &nobody(), &FakeClock::new()).replay(Cassette::new(&path));
            let replaying = replaying.build().unwrap();
            for (text, answer, model, attempt) in [
                ("plain", "served by model-1", "model-1", 1),
                ("streamed", "served by model-1", "model-1", 1),
                ("a tool", rich().text.as_str(), "model-1", 1),
                ("busy", "served by model-2", "model-2", 4),
                ("busy, streamed", "served by model-2", "model-2", 4),
                ("refused", "served by model-2", "model-2", 2),
            ] {
                let reply = ask(&replaying, form, &question(text)).await.unwrap();
                let [last] = &reply.attempts[..] else {
                    panic!("{reply:?}")
                };
                assert_eq!(reply.text(), answer, "{wire:?} {text}");
                assert_eq!((last.target.model.as_str(), last.n), (model, attempt));
                assert_eq!(reply.source, ReplySource::Replay);
            }
        }
    }
}
