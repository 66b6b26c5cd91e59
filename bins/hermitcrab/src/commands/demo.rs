//! `demo`: a conversation with the built-in rules, and what it leaves.

use std::sync::Arc;

use bin_support::demo::{DemoArgs, DemoResult};
use bin_support::output::write_file;
use bin_support::{Exit, Failure, Session, block_on_threads};
use hermitcrab_kernel::config::Settings;
use hermitcrab_kernel::faces::NoHost;
use hermitcrab_kernel::prompt::{CoreBlock, Phase};
use hermitcrab_kernel::{EventSink, Face, Kernel, KernelConfig, OfflineBrain};
use tokio_util::sync::CancellationToken;

use crate::conversation;
use crate::data_dir::DataDir;
use crate::error::{Error, name};
use crate::kernel_setup::{open_after_takeover, open_read_only};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab demo
  hermitcrab demo --dir my-demo";

/// The words of the person, a turn a line.
const LINES: &str = include_str!("demo.txt");

pub fn execute(args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let folder = args.make_folder()?;
    let data = DataDir::find(Some(&folder.join("data"))).map_err(Error::failure)?;
    let page = folder.join("conversation.txt");
    let (blocks, memory, tokens) = block_on_threads(async {
        let kernel = talk(&data).await?;
        let said = kernel
            .said()
            .map_err(|error| Error::from(error).failure())?;
        write_file(&page, |out| conversation::write(&said, out))?;
        let blocks = kernel
            .store()
            .names()
            .map_err(|error| Error::from(error).failure())?;
        let memory = CoreBlock::Memory.name();
        let memory = blocks.iter().find(|block| block.name == *memory).cloned();
        drop(kernel);
        let next = open_read_only(&data)?.prompt(Phase::Call).await;
        Ok::<_, Failure>((blocks.len(), memory, next.tokens.total))
    })??;
    let turns = LINES.lines().count();
    let place = name(data.path());
    let mut lines = vec![
        format!("talk      {turns} turns with the built-in rules; no model was called"),
        format!("blocks    {blocks} in {place}"),
    ];
    lines.extend(memory.map(|memory| {
        let (nodes, decimal) = (memory.nodes, memory.decimal);
        format!("memory    {nodes} nodes; after nine entries it grew to decimal {decimal}")
    }));
    lines.extend([
        format!("request   the next one has {tokens} tokens"),
        format!("text      {}", name(&page)),
        format!("next      hermitcrab block read memory --data {place}"),
    ]);
    let result = DemoResult {
        lines,
        line: format!("offline: {blocks} blocks; next request {tokens} tokens"),
        page,
    };
    result.print(args, session)
}

/// Holds the conversation.
async fn talk(data: &DataDir) -> Result<Kernel, Failure> {
    let mut config = KernelConfig::default();
    config.data = Some(data.path().to_owned());
    config.settings = Settings::default();
    config.face = Face::Terminal;
    let kernel = open_after_takeover(config, data, Arc::new(OfflineBrain), Arc::new(NoHost))?;
    let failed = |error| Error::from(error).failure();
    let (silent, cancel) = (|| EventSink::new(|_| {}), CancellationToken::new());
    kernel
        .boot(silent(), cancel.clone())
        .await
        .map_err(failed)?;
    for line in LINES.lines() {
        let turn = kernel.turn(line.to_owned(), silent(), cancel.clone());
        turn.await.map_err(failed)?;
    }
    kernel.settle().await.map_err(failed)?;
    Ok(kernel)
}
