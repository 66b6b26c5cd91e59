//! A judge compared with people: pairs to label, agreement, bias, and means that are corrected by labels.
//!
//! [`pairs`] lists the pairs of original and decoded text of a run, and [`draw`] orders them at random. People give each pair 0 to
//! 40 points, by a file of lines ([`read_labels`]) or a spreadsheet ([`sheet`], [`read_sheet`]). [`Calibration::of`] compares these
//! labels with the judge's points. It names its judge by a hash ([`JudgeIdentity`]), so that it is never used for another judge.
//!
//! Everything here is a plain function. [`crate::run::LabelFile`] writes the lines, and
//! [`RunReport::calibrate`](crate::report::RunReport::calibrate) sets the corrected means of a report.

mod agreement;
mod bias;
mod canary;
mod corrected;
mod judge;
mod label;
mod label_plan;
mod pair;
mod record;
mod sheet;

pub use agreement::PointsAgreement;
pub use bias::{BiasContrast, JudgeBias};
pub use canary::{CanaryReport, canaries};
pub(crate) use corrected::corrected_by_chance;
pub use corrected::{CorrectedMean, MIN_LABELS, Rectifier, corrected_mean};
pub use judge::JudgeIdentity;
pub use label::{LABEL_SCHEMA_VERSION, Label, LabelError, Labels, read_labels};
pub use label_plan::{LabelPlan, label_plan};
pub use pair::{TextPair, dataset_sha256, draw, pairs};
pub(crate) use pair::{TextPoints, judged, texts};
pub use record::{Calibration, CalibrationError, time_of_day};
pub use sheet::{read_sheet, sheet};
