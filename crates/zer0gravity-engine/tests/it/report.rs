//! A report: what it computes, and the forms it is shown in.

mod comparison;
mod csv;
mod figures;
mod sample;
