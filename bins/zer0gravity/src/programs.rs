//! The programs of a rubric: a client that runs them, and asks the model client everything else.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bin_support::shortened;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::model::{
    CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount,
};
use zer0gravity_engine::plan::rubric::CommandScorer;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::{FailureKind, ModelClient};

/// A future of a client.
type ClientFuture<'a, T> =
    std::pin::Pin<Box<dyn Future<Output = Result<T, ModelError>> + Send + 'a>>;

/// The longest output that is read, in bytes.
const LONGEST_OUTPUT: u64 = 64 << 10;
/// The time for the last output after the end of a program.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// The longest part of an output in a message, in characters.
const LONGEST_QUOTE: usize = 200;

/// A client that runs the programs of a rubric.
pub struct ProgramClient {
    pub models: Arc<dyn ModelClient>,
    /// Ends the programs that run.
    pub stop: CancellationToken,
}

impl ModelClient for ProgramClient {
    fn complete(&self, request: ModelRequest) -> ClientFuture<'_, ModelReply> {
        if request.role != Role::OwnProgram {
            return self.models.complete(request);
        }
        Box::pin(async move {
            let input = request.prompt.messages.into_iter();
            let input: String = input.map(|turn| turn.content).collect();
            let failed = |cause: String| ModelError::unsent(FailureKind::Program, cause);
            let program: CommandScorer = serde_json::from_str(&request.prompt.system)
                .map_err(|error| failed(error.to_string()))?;
            tokio::select! {
                printed = printed(&program, &input) => {
                    Ok(ModelReply::new(printed.map_err(failed)?))
                }
                () = self.stop.cancelled() => {
                    let cause = "the run was interrupted";
                    Err(ModelError::unsent(FailureKind::Interrupted, cause).stopped(true))
                }
            }
        })
    }

    fn count_tokens(&self, request: CountRequest) -> ClientFuture<'_, TokenCount> {
        self.models.count_tokens(request)
    }

    fn label(&self) -> ModelLabel {
        self.models.label()
    }
}

/// The output of a program, if it has a score.
///
/// # Errors
/// The cause, for people: the program cannot be run, fails, takes too long, or prints something else than a score.
async fn printed(program: &CommandScorer, input: &str) -> Result<String, String> {
    /// The form of the output.
    #[derive(Deserialize)]
    #[expect(
        dead_code,
        reason = "the form is checked, and the output is kept as it is"
    )]
    struct Scored {
        score: f64,
        #[serde(default)]
        reasoning: Option<String>,
    }
    let name = program.argv.first().map_or("", String::as_str);
    let mut child = Command::new(name)
        .args(program.argv.iter().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{name} cannot be run: {error}"))?;
    // Dropped in every case: what the program left in the background ends with it.
    let group = ProcessGroup::of(&child);
    let seconds = program.timeout_s;
    let ended = timeout(
        Duration::from_secs(seconds.into()),
        ended(&mut child, input, group),
    );
    let (output, errors, status) = ended
        .await
        .map_err(|_| format!("{name} did not end within {seconds} s"))?
        .map_err(|error| format!("{name} failed: {error}"))?;
    if !status.success() {
        let errors = String::from_utf8_lossy(&errors);
        // The last line has the cause: a trace is before it.
        let cause = errors.lines().rev().find(|line| !line.trim().is_empty());
        let cause = cause.map_or_else(String::new, |cause| {
            format!(": {}", shortened(cause.trim(), LONGEST_QUOTE))
        });
        return Err(format!("{name} failed ({status}){cause}"));
    }
    if output.len() as u64 > LONGEST_OUTPUT {
        return Err(format!("{name} printed more than {LONGEST_OUTPUT} bytes"));
    }
    let output = String::from_utf8_lossy(&output).into_owned();
    let scored = serde_json::from_str::<Scored>(&output);
    // A derived reader takes a list for an object.
    let is_object = output.trim_start().starts_with('{');
    if is_object && scored.as_ref().is_ok_and(|scored| scored.score.is_finite()) {
        return Ok(output);
    }
    let expected = r#"expected {"score": number, "reasoning": text} alone"#;
    let found = shortened(output.trim(), LONGEST_QUOTE);
    let cause = scored
        .err()
        .map_or_else(String::new, |error| format!(" ({error})"));
    Err(format!("{name}: {expected}, found `{found}`{cause}"))
}

/// Writes the input and reads the outputs while the program runs: it may print before it has read everything, or read nothing.
async fn ended(
    child: &mut Child,
    input: &str,
    group: ProcessGroup,
) -> io::Result<(Vec<u8>, Vec<u8>, ExitStatus)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that reads nothing closes the pipe.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let mut talk = std::pin::pin!(async {
        let ((), output, errors) = tokio::join!(write, start(stdout), start(stderr));
        (output, errors)
    });
    let (status, said) = tokio::select! {
        status = child.wait() => (status?, None),
        said = &mut talk => (child.wait().await?, Some(said)),
    };
    // Background processes hold the pipes open.
    drop(group);
    let (output, errors) = match said {
        Some(said) => said,
        None => timeout(LAST_OUTPUT, talk)
            .await
            .map_err(|_| io::Error::other("another process keeps its output open"))?,
    };
    Ok((output, errors, status))
}

/// The start of an output, of which the rest is read and dropped. What cannot be read ends it.
async fn start(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(output) = output {
        let mut limited = output.take(LONGEST_OUTPUT + 1);
        let _ = limited.read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut limited.into_inner(), &mut tokio::io::sink()).await;
    }
    bytes
}

/// The process group of a program, which is killed when this is dropped.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
