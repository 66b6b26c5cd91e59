//! `block search`: finds the nodes that contain some words.

use std::io::{self, Write as _};

use bin_support::{Results, escape};
use pscale_blocks::{BlockName, Hit};
use serde::Serialize;

use crate::answer::Answer;
use crate::blocks::list::chosen;
use crate::blocks::output::shown;
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Words to find, in upper or lower case.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub query: String,
    /// Name of the block [default: all blocks].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// Largest number of nodes that are shown.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

/// The nodes that were found.
#[derive(Serialize)]
pub struct SearchAnswer {
    /// The nodes in order of the blocks' names and of the paths.
    hits: Vec<BlockHit>,
    /// Whether more nodes contain the words than `--limit` allows.
    more: bool,
}

/// A node that contains the words, with the name of its block.
#[derive(Serialize)]
struct BlockHit {
    name: BlockName,
    #[serde(flatten)]
    hit: Hit,
    /// The whole text of the node, for a pipe.
    #[serde(skip)]
    whole: String,
}

pub fn execute(args: &SearchArgs, data: &DataDir) -> Result<SearchAnswer, Error> {
    if args.query.trim().is_empty() {
        return Err(Error::EmptyQuery);
    }
    let store = data.for_reading()?;
    let mut hits = Vec::new();
    for name in chosen(&*store, args.name.as_ref())? {
        // One node more than is shown is enough to know that there are more.
        let wanted = args.limit.saturating_add(1) - hits.len();
        let block = store.load(&name)?.block;
        let found = block.search(&args.query, wanted);
        hits.extend(found.into_iter().map(|hit| {
            BlockHit {
                name: name.clone(),
                whole: block
                    .text(&hit.path)
                    .ok()
                    .flatten()
                    .unwrap_or_default()
                    .to_owned(),
                hit,
            }
        }));
    }
    let more = hits.len() > args.limit;
    hits.truncate(args.limit);
    Ok(SearchAnswer { hits, more })
}

impl Answer for SearchAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let is_terminal = out.width().is_some();
        for BlockHit { name, hit, whole } in &self.hits {
            let text = if is_terminal { &hit.text } else { whole };
            writeln!(out, "{name} {}  {}", shown(&hit.path), escape(text))?;
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let notice = if self.more {
            "there are more; --limit N shows them"
        } else if self.hits.is_empty() {
            "nothing found"
        } else {
            return Vec::new();
        };
        vec![notice.to_owned()]
    }
}
