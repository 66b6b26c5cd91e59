//! `minds`: lists the scripted minds.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use logosphere_core::LocalMindKind;

pub fn execute(session: &mut Session) -> Result<Exit, Failure> {
    let out = &mut session.results;
    for kind in LocalMindKind::ALL {
        writeln!(out, "{:<12} {}", kind.name, kind.about)?;
        for parameter in kind.parameters {
            let default = match parameter.default {
                Some(default) => format!("default {default}"),
                None => "must be given".to_owned(),
            };
            writeln!(
                out,
                "  {:<10} {}: {}; {default}",
                parameter.name, parameter.about, parameter.range
            )?;
        }
    }
    Ok(Exit::Done)
}
