//! Plain calls that fail, at a provider without batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_client::batch::{BatchOptions, Spool};
use llm_client::dialect::BatchForm;
use llm_client::provider::{HttpRequest, HttpResponse, Transport};
use llm_client::{Auth, Client, Compat, Dialect, Endpoint, Error};
use test_support::CannedReply;

use super::{Kill, World, finish, question};
use crate::faults::{KEY, Wire};

/// A server whose replies are cut, or not, and the number of its calls.
struct CutLine(AtomicBool, AtomicUsize);

impl Transport for CutLine {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let mut text = CannedReply::text("whole").tokens(100, 20).openai_json();
        if self.0.load(Ordering::SeqCst) {
            text.truncate(text.len() / 2);
        }
        let body = stream::iter([Ok(Bytes::from(text))]).boxed();
        ready(Ok(HttpResponse::new(200, Vec::new(), body))).boxed()
    }
}

#[test]
fn a_reply_that_was_cut_is_asked_for_again_by_the_next_process() {
    let world = World::new(Wire::Openai);
    let line = Arc::new(CutLine(AtomicBool::new(true), AtomicUsize::new(0)));
    let open = || {
        let mut dialect = Dialect::openai();
        dialect.batch = BatchForm::None;
        let auth = Auth::Bearer(KEY.into());
        let endpoint = Endpoint::new("http://127.0.0.1:1/v1", auth).unwrap();
        let provider = Arc::new(Compat::new(endpoint, dialect));
        let client = Client::builder(provider, Arc::new(world.clock.clone()));
        let client = client.transport(line.clone()).build().unwrap();
        Spool::open(&world.path(), BatchOptions::new(client)).unwrap()
    };
    world.run(async {
        let whole = Some("whole");
        for (is_cut, expected, calls) in [(true, None, 2), (false, whole, 3), (false, whole, 3)] {
            line.0.store(is_cut, Ordering::SeqCst);
            let mut spool = open();
            spool.submit(&[question("text 0")]).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            let (reply, attempts) = match &results[0].1 {
                Ok(reply) => (Some(reply.text()), reply.attempts.len()),
                Err(error) => (None, error.attempts().len()),
            };
            assert_eq!(reply.as_deref(), expected);
            assert_eq!(attempts, if is_cut { 2 } else { 1 });
            assert_eq!(line.1.load(Ordering::SeqCst), calls);
        }
    });
}
