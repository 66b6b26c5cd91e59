//! `minds`: lists the scripted minds.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session, nearest};
use logosphere_core::{LocalMindKind, LocalMindParameter};
use serde::Serialize;

use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct MindsArgs {
    /// Kind of mind [default: all].
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct MindList {
    schema_version: u32,
    minds: Vec<MindInfo>,
}

#[derive(Serialize)]
struct MindInfo {
    kind: &'static str,
    about: &'static str,
    parameters: Vec<ParameterInfo>,
}

#[derive(Serialize)]
struct ParameterInfo {
    name: &'static str,
    about: &'static str,
    range: &'static str,
    /// `None` if it must be given.
    default: Option<&'static str>,
}

pub fn execute(args: &MindsArgs, session: &mut Session) -> Result<Exit, Failure> {
    let kinds = kinds(args.kind.as_deref())?;
    let out = &mut session.results;
    if args.json {
        let list = MindList {
            schema_version: 1,
            minds: kinds.into_iter().map(info).collect(),
        };
        out.json(&list)?;
        return Ok(Exit::Done);
    }
    for kind in kinds {
        writeln!(out, "{:<12} {}", kind.name, kind.about)?;
        for parameter in kind.parameters {
            let default = match parameter.default {
                Some(default) => format!("default {default}"),
                None => "must be given".to_owned(),
            };
            let (name, about, range) = (parameter.name, parameter.about, parameter.range);
            writeln!(out, "  {name:<10} {about}: {range}; {default}")?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the kind with this name, or all.
fn kinds(name: Option<&str>) -> Result<Vec<&'static LocalMindKind>, Failure> {
    let all = LocalMindKind::ALL.iter();
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let found: Vec<_> = all.filter(|kind| kind.name == name).collect();
    if found.is_empty() {
        let names = || LocalMindKind::ALL.iter().map(|kind| kind.name);
        return Err(Failure::usage(Error::NoSuchMind {
            name: name.to_owned(),
            near: nearest(name, names())
                .into_iter()
                .map(str::to_owned)
                .collect(),
            all: names().collect(),
        }));
    }
    Ok(found)
}

fn info(kind: &LocalMindKind) -> MindInfo {
    let parameter = |parameter: &LocalMindParameter| ParameterInfo {
        name: parameter.name,
        about: parameter.about,
        range: parameter.range,
        default: parameter.default,
    };
    MindInfo {
        kind: kind.name,
        about: kind.about,
        parameters: kind.parameters.iter().map(parameter).collect(),
    }
}
