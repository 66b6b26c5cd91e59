//! The face in a real browser. A module a topic; `just face` runs these alone.

mod apps;
mod apps_host;
mod apps_limits;
mod crash;
mod ext_apps;
mod folders;
mod full_circle;
mod gestures;
mod harness;
mod home;
mod hostile;
mod keyboard;
mod looks;
pub mod needs;
mod panels;
pub mod react;
mod review;
mod safe;
mod screenshots;
mod shells;
mod speed;
mod table;
mod visit;
