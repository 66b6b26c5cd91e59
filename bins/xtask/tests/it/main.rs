//! What the project as a whole keeps to, and how its commands end.

mod arrows;
mod commands;
