//! The command `popper queue`: the jobs of a server's queue that need a person.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session, escape};
use serde_json::{Value, json};
use work_queue::{Conflict, JobRow, Queue};

use crate::discovery::queue_status;
use crate::error::Error;
use crate::examples;
use crate::flags::ServerFlag;

#[derive(Debug, clap::Subcommand)]
pub enum QueueArgs {
    /// List the laws that were set aside, and the conflicts
    ///
    /// A law is set aside when its evaluation ended five workers, or panicked twice. A conflict is one law with two different
    /// answers, or an answer that does not hold: a machine or a program is faulty.
    #[command(after_help = examples::QUEUE_LIST)]
    List(ListArgs),
    /// Open the job of a conflict again
    #[command(after_help = examples::QUEUE_RESOLVE)]
    Resolve(ResolveArgs),
}

#[derive(Debug, clap::Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub server: ServerFlag,
    /// Print the list as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct ResolveArgs {
    #[command(flatten)]
    pub server: ServerFlag,
    /// Number of the conflict.
    #[arg(long, value_name = "ID")]
    pub conflict: i64,
    /// Drop both answers: no program can tell which one is right. The conflict stays on record.
    #[arg(long, required = true)]
    pub drop_both: bool,
}

pub async fn execute(args: &QueueArgs, session: &mut Session) -> Result<Exit, Failure> {
    match args {
        QueueArgs::List(args) => list(args, session).await,
        QueueArgs::Resolve(args) => {
            let queue = queue_of(&args.server, session).await?;
            queue.resolve(args.conflict).await?;
            session.status(&format!(
                "conflict {}: the job is open again; continue its run",
                args.conflict
            ));
            Ok(Exit::Done)
        }
    }
}

async fn queue_of(server: &ServerFlag, session: &Session) -> Result<Queue, Failure> {
    let server = server.server(session)?;
    let queue = queue_status::open(&server).await?;
    queue.ok_or_else(|| Failure::new(Exit::Failed, Error::NoRuns))
}

async fn list(args: &ListArgs, session: &mut Session) -> Result<Exit, Failure> {
    let queue = queue_of(&args.server, session).await?;
    let (aside, conflicts) = (queue.aside().await?, queue.conflicts().await?);
    let out = &mut session.results;
    if args.json {
        let aside: Vec<Value> = aside.iter().map(aside_json).collect();
        let conflicts: Vec<Value> = conflicts.iter().map(conflict_json).collect();
        crate::json::print(&json!({"aside": aside, "conflicts": conflicts}), out)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "set aside: {}", aside.len())?;
    for job in &aside {
        let problem = escape(job.problem.as_deref().unwrap_or_default());
        writeln!(out, "  {}: {problem}", escape(&job.group_id))?;
        write!(out, "{}", law_lines(&job.input))?;
    }
    writeln!(out, "conflicts: {}", conflicts.len())?;
    for conflict in &conflicts {
        let group = escape(&conflict.group_id);
        writeln!(
            out,
            "  {}: {group}: {}",
            conflict.id,
            escape(&conflict.problem)
        )?;
        let first = escape(&conflict.first_worker);
        writeln!(out, "    {first} answered {}", conflict.first_digest)?;
        if let (Some(worker), Some(digest)) = (&conflict.second_worker, &conflict.second_digest) {
            writeln!(out, "    {} answered {digest}", escape(worker))?;
        }
        write!(out, "{}", law_lines(&conflict.input))?;
    }
    Ok(Exit::Done)
}

fn aside_json(job: &JobRow) -> Value {
    json!({
        "key": job.key, "group": job.group_id, "deliveries": job.deliveries, "problem": job.problem,
        "laws": laws(&job.input),
    })
}

fn conflict_json(conflict: &Conflict) -> Value {
    json!({
        "id": conflict.id, "key": conflict.key, "group": conflict.group_id, "problem": conflict.problem,
        "first_worker": conflict.first_worker, "first_digest": conflict.first_digest,
        "second_worker": conflict.second_worker, "second_digest": conflict.second_digest,
        "laws": laws(&conflict.input),
    })
}

/// The fingerprints and seeds of the laws of a job. Empty for a job of another program.
fn laws(input: &[u8]) -> Vec<Value> {
    let input: Value = serde_json::from_slice(input).unwrap_or_default();
    let laws = input["laws"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let law = |law: &Value| json!({"law_fingerprint": law["law_fingerprint"], "seed": law["seed"]});
    laws.iter().map(law).collect()
}

fn law_lines(input: &[u8]) -> String {
    let line = |law: &Value| {
        let fingerprint = law["law_fingerprint"].as_str().unwrap_or_default();
        format!("    law {}, seed {}\n", escape(fingerprint), law["seed"])
    };
    laws(input).iter().map(line).collect()
}
