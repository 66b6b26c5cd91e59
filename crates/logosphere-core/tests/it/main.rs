//! The tests of the engine, one module for each topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod analysis;
mod cap;
mod concurrency;
mod config_layers;
mod desk;
mod drift;
mod edits;
mod embedding;
mod experiment;
mod export;
mod faults;
#[cfg(feature = "report")]
mod findings;
mod flip_every_byte;
mod forecast;
mod fork_effect;
mod fork_identity;
mod fork_proof;
mod growing;
mod impersonation;
mod import;
mod init_table;
#[cfg(feature = "report")]
mod layout;
mod leak;
mod lineage;
mod metrics;
mod minds;
mod mixed_minds;
mod no_stamp;
mod null_level;
mod null_power;
mod null_threads;
mod nulls;
mod nulls_analytic;
#[cfg(feature = "report")]
mod order;
mod parse_vectors;
mod parser_fuzz;
mod parser_size;
#[cfg(feature = "report")]
mod picture;
mod pool;
mod pool_scale;
mod population;
mod prompt_roundtrip;
mod protocol_meter;
mod repeats;
mod replay;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "report")]
mod report_hostile;
mod resume_every_byte;
mod resume_settings;
mod sampler;
mod scheduling;
mod scripted_run;
mod sweep_plan;
mod sweep_summary;
mod syncs;
mod timing;
mod vector_cache;
mod verdict;
mod versions;
mod waits;
