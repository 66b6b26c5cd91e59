//! The reader of law files: problems are reported, valid laws are kept.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use bin_support::{Session, escape};
use popper_harness::law::{EXTENSION_OFF, Extensions, Law, LawError};

use crate::error::Error;
use crate::input::Text;
use crate::stated::{self, Bound};

/// The most invalid laws of one file that are reported one by one.
const REPORTED: usize = 100;

/// The laws of the files in order.
pub struct Laws {
    pub laws: Vec<Law>,
    /// The number of files and laws that could not be read. Each was reported.
    pub broken: usize,
}

impl Laws {
    pub fn read(files: &[PathBuf], extensions: Extensions, session: &Session) -> Self {
        let mut all = Self {
            laws: Vec::new(),
            broken: 0,
        };
        for path in files {
            if let Err(error) = all.read_file(path, extensions, session) {
                session.report(&error);
                all.broken += 1;
            }
        }
        all
    }

    /// Adds the laws that flags state.
    pub fn add_stated(&mut self, conserved: &[String], bounds: &[Bound], session: &Session) {
        let conserved = conserved.iter();
        let conserved = conserved.map(|expr| ("--conserved", stated::conserved(expr)));
        let bounds = bounds.iter().map(|bound| ("--bound", bound.law()));
        for (flag, law) in conserved.chain(bounds) {
            match law {
                Ok(law) => self.laws.push(law),
                Err(error) => {
                    self.broken += 1;
                    report(flag, &error, session);
                }
            }
        }
    }

    fn read_file(
        &mut self,
        path: &std::path::Path,
        extensions: Extensions,
        session: &Session,
    ) -> Result<(), Error> {
        let file = Text::read(path).map_err(|error| match error {
            Error::Read { name, source } if source.kind() == ErrorKind::NotFound => {
                Error::NoLawFile { name }
            }
            other => other,
        })?;
        let read = Law::read_all(&file.text, extensions);
        let laws = read.map_err(|error| Error::unfit(&file.name, error))?;
        let mut broken = 0;
        let (mut names, mut repeated) = (HashSet::new(), HashSet::new());
        for law in laws {
            match law {
                Ok(law) => {
                    if !names.insert(law.law_id().to_owned())
                        && repeated.insert(law.law_id().to_owned())
                    {
                        let (file, name) = (&file.name, escape(law.law_id()));
                        session.warn(&format!(
                            "{file}: more than one law has the law_id `{name}`; all are decided"
                        ));
                    }
                    self.laws.push(law);
                }
                Err(error) => {
                    broken += 1;
                    if broken <= REPORTED {
                        report(&file.name, &error, session);
                    }
                }
            }
        }
        if broken > REPORTED {
            session.report(&Error::MoreLaws {
                name: file.name,
                count: broken - REPORTED,
            });
        }
        self.broken += broken;
        Ok(())
    }
}

/// Reports one line for each problem of a law.
fn report(name: &str, error: &LawError, session: &Session) {
    for problem in &error.problems {
        let advice = if problem.message == EXTENSION_OFF {
            " (`--extension local_transition`)"
        } else {
            ""
        };
        let message = format!("{}{advice}", problem.message);
        session.report(&Error::form(name, &problem.path, message));
    }
}
