//! `block search`.

use std::io::{self, Write};

use bin_support::escape;
use pscale_blocks::{BlockName, Hit};
use serde::Serialize;

use super::list::chosen;
use super::outline::shown;
use crate::answer::Answer;
use crate::cli;
use crate::data_dir::DataDir;
use crate::error::Error;

/// What was found.
#[derive(Serialize)]
pub struct Search {
    /// In order of the blocks' names and of the paths.
    hits: Vec<Found>,
    /// Whether there are more than `--limit` let through.
    more: bool,
}

/// A node that holds the words.
#[derive(Serialize)]
struct Found {
    name: BlockName,
    #[serde(flatten)]
    hit: Hit,
}

pub fn search(args: &cli::Search, data: &DataDir) -> Result<Search, Error> {
    if args.query.trim().is_empty() {
        return Err(Error::EmptyQuery);
    }
    let store = data.for_reading()?;
    let mut hits = Vec::new();
    for name in chosen(&*store, args.name.as_ref())? {
        // One more than is shown tells whether there are more.
        let wanted = args.limit.saturating_add(1) - hits.len();
        let found = store.load(&name)?.block.search(&args.query, wanted);
        hits.extend(found.into_iter().map(|hit| Found {
            name: name.clone(),
            hit,
        }));
    }
    let more = hits.len() > args.limit;
    hits.truncate(args.limit);
    Ok(Search { hits, more })
}

impl Answer for Search {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        for Found { name, hit } in &self.hits {
            writeln!(out, "{name} {}  {}", shown(&hit.path), escape(&hit.text))?;
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
