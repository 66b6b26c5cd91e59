//! The requests about batches to one server.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use url::Url;

use super::files;
use super::form::{BatchPage, BatchStatus, FormRules, id};
use crate::client::checked_transport::CheckedTransport;
use crate::codec::{Fields, LONGEST_REPLY, RequestContext, as_text};
use crate::layers::budget::SendState;
use crate::layers::timeout::{Alarm, IdleTimer};
use crate::provider::{HttpRequest, HttpResponse, Method, Transport};
use crate::{Client, Error};

/// The maximum size of an answer about batches, and of all results of one.
const ANSWER: u64 = 16 << 20;
const RESULTS: u64 = 16 << 30;
/// The time for a file of results, in times of the limit for a call.
const RESULTS_TIME: u32 = 6;
/// The minimum speed of an upload in bytes per second.
const SPEED: u64 = 1 << 17;
/// The number of batches in a part of a list.
const PAGE: &str = "100";

/// The requests about batches to one server, with the headers of its model calls.
pub(super) struct Courier {
    client: Client,
    pub rules: &'static FormRules,
    call: HttpRequest,
}

impl Courier {
    /// The server that `call`, a request to a model, goes to.
    pub fn new(client: &Client, rules: &'static FormRules, call: HttpRequest) -> Self {
        let client = client.clone();
        Self {
            client,
            rules,
            call,
        }
    }

    /// The path of calls at this server.
    fn path(&self) -> &str {
        self.call.url.path()
    }

    /// The path of the requests of a batch, which is the same under each base URL.
    pub fn route(&self) -> String {
        format!("/v1{}", self.call.path)
    }

    /// The provider and the address of its batches.
    pub fn server(&self) -> Result<String, Error> {
        let mut url = self.batches(&[])?;
        // An address has no user if it cannot have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Ok(format!(
            "{} {url}",
            self.client.inner.settings.provider.name()
        ))
    }

    /// The longest time that the submission of a batch takes.
    pub fn longest(&self) -> Duration {
        self.limit(self.rules.bytes)
    }

    /// The time for a request of this many bytes and its answer.
    fn limit(&self, bytes: usize) -> Duration {
        let upload = Duration::from_secs(bytes as u64 / SPEED);
        (self.client.inner.settings.timeouts.total).saturating_add(upload)
    }

    /// Submits a batch with these requests and returns its id; `sent` learns whether the deciding request went out. `file` is
    /// the uploaded file with them.
    pub async fn submit(
        &self,
        name: &str,
        mut requests: Vec<u8>,
        file: &mut Option<String>,
        sent: &Arc<SendState>,
    ) -> Result<String, Error> {
        if self.rules.is_file {
            if file.is_none() {
                let mut wire = self.request(Method::Post, &self.url("files", &[])?);
                wire.headers.set("content-type", files::KIND);
                wire.body = requests.into();
                let text = self.ask(wire, None).await?;
                *file = Some(read(&text, |fields| id(fields, "id"))?);
            }
            let file = file.as_deref().unwrap_or_default();
            requests = files::body(file, &self.route(), name);
        }
        let mut wire = self.request(Method::Post, &self.batches(&[])?);
        wire.body = requests.into();
        let text = self.ask(wire, Some(sent.clone())).await?;
        read(&text, |fields| id(fields, "id"))
    }

    pub async fn status(&self, id: &str) -> Result<BatchStatus, Error> {
        let wire = self.request(Method::Get, &self.batches(&[id])?);
        read(&self.ask(wire, None).await?, self.rules.status)
    }

    pub async fn cancel(&self, id: &str) -> Result<(), Error> {
        let wire = self.request(Method::Post, &self.batches(&[id, "cancel"])?);
        self.ask(wire, None).await.map(drop)
    }

    /// Returns the batches after the one with the id `after`, newest first.
    pub async fn list(&self, after: Option<&str>) -> Result<BatchPage, Error> {
        let mut url = self.batches(&[])?;
        let mut query = url.query_pairs_mut();
        query.append_pair("limit", PAGE);
        query.extend_pairs(after.map(|id| (self.rules.cursor, id)));
        drop(query);
        let text = self.ask(self.request(Method::Get, &url), None).await?;
        let page = BatchPage::read(&text, after, self.rules);
        page.ok_or_else(|| Error::bad_response("expected a list of batches"))
    }

    /// The results of a batch that is over, one file after another.
    pub fn results(&self, batch: &BatchStatus) -> Result<Vec<Url>, Error> {
        if self.rules.is_file {
            let files = batch.files.iter();
            return files
                .map(|file| self.url("files", &[file, "content"]))
                .collect();
        }
        // The server names an address, which could be any: the documented one is at the server itself.
        Ok(vec![self.batches(&[&batch.id, "results"])?])
    }

    /// Opens a file with results.
    pub async fn open(&self, url: &Url) -> Result<ResultLines, Error> {
        let mut timer = self.timer(self.limit(0).saturating_mul(RESULTS_TIME));
        let sending = self.send(self.request(Method::Get, url), None);
        let sent = timer.guard(sending).await;
        Ok(ResultLines {
            body: sent.map_err(|_| Error::deadline(None))??.body,
            timer,
            text: BytesMut::new(),
            searched: 0,
            read: 0,
            is_long: false,
            is_over: false,
        })
    }

    /// The address of the batches, or of a part of one.
    fn batches(&self, parts: &[&str]) -> Result<Url, Error> {
        if self.rules.is_file {
            return self.url("batches", parts);
        }
        let path = format!("{}/batches", self.path());
        self.at(&path, parts)
    }

    /// An address under the base URL, which the address of calls begins with.
    fn url(&self, folder: &str, parts: &[&str]) -> Result<Url, Error> {
        let path = self.path();
        let base = path.strip_suffix(&*self.call.path).unwrap_or(path);
        self.at(&format!("{base}/{folder}"), parts)
    }

    fn at(&self, path: &str, parts: &[&str]) -> Result<Url, Error> {
        let mut url = self.call.url.clone();
        url.set_path(path);
        url.set_query(None);
        // Each part is escaped.
        let refused = |()| Error::refused("base URL", "it cannot have a path");
        url.path_segments_mut().map_err(refused)?.extend(parts);
        Ok(url)
    }

    fn request(&self, method: Method, url: &Url) -> HttpRequest {
        let mut request = self.call.clone();
        (request.method, request.streams) = (method, false);
        request.path = url.path().to_owned().into();
        request.url = url.clone();
        request.body = Bytes::new();
        request
    }

    async fn send(
        &self,
        wire: HttpRequest,
        sent: Option<Arc<SendState>>,
    ) -> Result<HttpResponse, Error> {
        let provider = self.client.inner.settings.provider.name();
        let mut context = RequestContext::new(provider, "", &wire.redactor());
        let limit = self.limit(wire.body.len());
        let inner = &self.client.inner;
        let alarm = Alarm::new(&inner.clock);
        let transport: Arc<dyn Transport> = Arc::new(CheckedTransport {
            inner: inner.transport()?,
            timer: inner.request_timer(&alarm, Some(limit)),
            clock: inner.clock.clone(),
            send_state: sent,
            queue: None,
            max_body: None,
        });
        let response = context.execute(&transport, wire).await?;
        if (200..300).contains(&response.status) {
            return Ok(response);
        }
        Err(context.failure(response).await)
    }

    /// Returns the whole answer, which a server may send byte by byte.
    async fn ask(&self, wire: HttpRequest, sent: Option<Arc<SendState>>) -> Result<String, Error> {
        let mut timer = self.timer(self.limit(wire.body.len()));
        let asking = async { self.send(wire, sent).await?.bytes(ANSWER).await };
        let bytes = timer.guard(asking).await;
        let bytes = bytes.map_err(|_| Error::deadline(None))??;
        Ok(as_text(&bytes).into_owned())
    }

    fn timer(&self, limit: Duration) -> IdleTimer {
        IdleTimer::new(&Alarm::new(&self.client.inner.clock), limit)
    }
}

fn read<T>(text: &str, get: impl Fn(&Fields<'_>) -> Option<T>) -> Result<T, Error> {
    let found = Fields::of(text).and_then(|fields| get(&fields));
    found.ok_or_else(|| Error::bad_response("expected a batch or a file with an id"))
}

/// The lines of a file with results, one in memory at a time.
pub(super) struct ResultLines {
    body: BoxStream<'static, Result<Bytes, Error>>,
    /// The time for the whole file.
    timer: IdleTimer,
    text: BytesMut,
    /// The bytes of `text` without a line end.
    searched: usize,
    read: u64,
    /// Whether the line is longer than a reply may be. It is skipped.
    is_long: bool,
    is_over: bool,
}

impl ResultLines {
    /// The next line; the last one need not have an end.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            let end = self.text[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let line = self.text.split_to(self.searched + end + 1);
                self.searched = 0;
                if std::mem::take(&mut self.is_long) {
                    continue;
                }
                return Some(Ok(line.freeze()));
            }
            self.is_long |= self.text.len() as u64 > LONGEST_REPLY;
            if self.is_long {
                self.text.clear();
            }
            self.searched = self.text.len();
            if self.is_over {
                let last = self.text.split();
                self.searched = 0;
                return (!last.is_empty()).then(|| Ok(last.freeze()));
            }
            match self.timer.guard(self.body.next()).await {
                Ok(None) => self.is_over = true,
                Err(_) => return Some(Err(Error::deadline(None))),
                Ok(Some(Err(error))) => return Some(Err(error)),
                Ok(Some(Ok(bytes))) => {
                    self.read += bytes.len() as u64;
                    self.text.extend_from_slice(&bytes);
                    if self.read > RESULTS {
                        return Some(Err(Error::too_large("file of results", RESULTS)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};

    use super::*;
    use crate::{ErrorClass, SystemClock, Timer};

    fn lines(body: BoxStream<'static, Result<Bytes, Error>>, limit: Duration) -> ResultLines {
        let clock: Arc<dyn Timer> = Arc::new(SystemClock::new());
        ResultLines {
            body,
            timer: IdleTimer::new(&Alarm::new(&clock), limit),
            text: BytesMut::new(),
            searched: 0,
            read: 0,
            is_long: false,
            is_over: false,
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let part = Bytes::from(vec![b'x'; 1 << 20]);
        let long = (0..=LONGEST_REPLY >> 20).map(move |_| part.clone());
        let short = [Bytes::from("end\nsecond\nth"), Bytes::from("ird")];
        let body = stream::iter(long.chain(short).map(Ok)).boxed();
        let mut lines = lines(body, Duration::from_hours(1));
        for expected in ["second\n", "third"] {
            let line = lines.next().now_or_never().unwrap().unwrap().unwrap();
            assert_eq!(line, expected);
        }
        assert!(lines.next().now_or_never().unwrap().is_none());
    }

    #[test]
    fn a_file_that_does_not_end_is_left_after_its_time() {
        let mut lines = lines(stream::pending().boxed(), Duration::ZERO);
        let error = lines.next().now_or_never().unwrap().unwrap().unwrap_err();
        assert_eq!(error.class(), ErrorClass::Timeout);
    }
}
