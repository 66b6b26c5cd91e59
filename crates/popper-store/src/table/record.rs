//! The columns of each table in order, and the conversion of rows to them and from them.
//!
//! Every statement that names columns is made from these lists, so that writing and reading cannot drift apart.

use jiff::Timestamp;
use popper_discovery::store::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, ModelCallRow, RunRow, StoreError,
};
use popper_harness::decide::Status;
use sqlx::Sqlite;
use sqlx::query_builder::Separated;

use super::fields::Fields;

/// The name and the columns of a table.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    /// In the order of the schema, the key first.
    pub columns: &'static [&'static str],
}

impl Table {
    /// The columns for a SELECT under this alias.
    pub(crate) fn select(&self, alias: &str) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{alias}.{column}"))
            .collect();
        columns.join(", ")
    }

    /// The head of an INSERT, up to the values.
    pub(crate) fn insert(&self) -> String {
        format!("INSERT INTO {} ({}) ", self.name, self.columns.join(", "))
    }
}

/// The list of values of an INSERT.
pub(crate) type Values<'a, 'b> = &'a mut Separated<'b, Sqlite, &'static str>;

/// The keys that a new row gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// The key of the row itself.
    pub id: i64,
    /// The link that the store sets: `counterexample_id` of an attempt, `law_evaluation_id` of a counterexample, `iteration_id` of
    /// the capabilities.
    pub link: Option<i64>,
}

/// A row of a table.
pub(crate) trait Record: Sized {
    const TABLE: Table;

    /// Writes the value of each column, in order; the row's own key is ignored.
    fn write(&self, keys: Keys, values: Values<'_, '_>);

    /// Reads the row from its columns.
    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError>;
}

/// The signed number with the same bits.
pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The time in RFC 3339 with nine decimals.
pub(crate) fn time_text(time: Timestamp) -> String {
    format!("{time:.9}")
}

/// An enumeration that a column has as a word.
pub(crate) trait Word: Sized + Copy + 'static {
    const ALL: &'static [(Self, &'static str)];
}

/// The word for a value; every value has one.
pub(crate) fn word<W: Word + PartialEq>(value: W) -> &'static str {
    W::ALL
        .iter()
        .find(|(known, _)| *known == value)
        .map_or("", |(_, word)| word)
}

impl Word for Status {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Pass, "PASS"),
        (Self::Fail, "FAIL"),
        (Self::Unknown, "UNKNOWN"),
    ];
}

impl Word for IterationStatus {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Running, "running"),
        (Self::Completed, "completed"),
        (Self::Aborted, "aborted"),
    ];
}

impl Word for LawStatus {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Proposed, "proposed"),
        (Self::RejectedSchema, "rejected_schema"),
        (Self::Queued, "queued"),
        (Self::Tested, "tested"),
    ];
}

impl Record for RunRow {
    const TABLE: Table = Table {
        name: "runs",
        columns: &[
            "id",
            "created_at",
            "universe_id",
            "sim_hash",
            "harness_hash",
            "discovery_model_id",
            "tester_model_id",
            "config_json",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(time_text(self.created_at))
            .push_bind(&self.universe_id)
            .push_bind(&self.sim_hash)
            .push_bind(&self.harness_hash)
            .push_bind(&self.discovery_model_id)
            .push_bind(&self.tester_model_id)
            .push_bind(&self.config_json);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            created_at: fields.time()?,
            universe_id: fields.get()?,
            sim_hash: fields.get()?,
            harness_hash: fields.get()?,
            discovery_model_id: fields.get()?,
            tester_model_id: fields.get()?,
            config_json: fields.get()?,
        })
    }
}

impl Record for Iteration {
    const TABLE: Table = Table {
        name: "iterations",
        columns: &[
            "id",
            "run_id",
            "iteration_index",
            "started_at",
            "completed_at",
            "status",
            "prompt_hash",
            "summary_json",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(i64::from(self.iteration_index))
            .push_bind(time_text(self.started_at))
            .push_bind(self.completed_at.map(time_text))
            .push_bind(word(self.status))
            .push_bind(&self.prompt_hash)
            .push_bind(&self.summary_json);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            iteration_index: fields.small()?,
            started_at: fields.time()?,
            completed_at: fields.optional_time()?,
            status: fields.word()?,
            prompt_hash: fields.get()?,
            summary_json: fields.get()?,
        })
    }
}

impl Record for LawRow {
    const TABLE: Table = Table {
        name: "laws",
        columns: &[
            "id",
            "run_id",
            "law_id",
            "law_fingerprint",
            "schema_version",
            "template",
            "quantifiers_json",
            "preconditions_json",
            "observables_json",
            "claim_text",
            "forbidden_text",
            "proposed_tests_json",
            "capability_requirements_json",
            "created_iteration_id",
            "raw_llm_json",
            "normalized_json",
            "status",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(&self.law_id)
            .push_bind(&self.law_fingerprint)
            .push_bind(&self.schema_version)
            .push_bind(&self.template)
            .push_bind(&self.quantifiers_json)
            .push_bind(&self.preconditions_json)
            .push_bind(&self.observables_json)
            .push_bind(&self.claim_text)
            .push_bind(&self.forbidden_text)
            .push_bind(&self.proposed_tests_json)
            .push_bind(&self.capability_requirements_json)
            .push_bind(self.created_iteration_id)
            .push_bind(&self.raw_llm_json)
            .push_bind(&self.normalized_json)
            .push_bind(word(self.status));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            law_id: fields.get()?,
            law_fingerprint: fields.get()?,
            schema_version: fields.get()?,
            template: fields.get()?,
            quantifiers_json: fields.get()?,
            preconditions_json: fields.get()?,
            observables_json: fields.get()?,
            claim_text: fields.get()?,
            forbidden_text: fields.get()?,
            proposed_tests_json: fields.get()?,
            capability_requirements_json: fields.get()?,
            created_iteration_id: fields.get()?,
            raw_llm_json: fields.get()?,
            normalized_json: fields.get()?,
            status: fields.word()?,
        })
    }
}

impl Record for EvaluationRow {
    const TABLE: Table = Table {
        name: "law_evaluations",
        columns: &[
            "id",
            "run_id",
            "law_id",
            "harness_config_hash",
            "seed",
            "started_at",
            "completed_at",
            "status",
            "reason_code",
            "evidence_json",
            "power_metrics_json",
            "runtime_ms",
            "counterexample_id",
            "artifacts_json",
            "notes",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(self.law_id)
            .push_bind(&self.harness_config_hash)
            .push_bind(signed(self.seed))
            .push_bind(time_text(self.started_at))
            .push_bind(time_text(self.completed_at))
            .push_bind(word(self.status))
            .push_bind(&self.reason_code)
            .push_bind(&self.evidence_json)
            .push_bind(&self.power_metrics_json)
            .push_bind(signed(self.runtime_ms))
            .push_bind(keys.link)
            .push_bind(&self.artifacts_json)
            .push_bind(&self.notes);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            law_id: fields.get()?,
            harness_config_hash: fields.get()?,
            seed: fields.unsigned()?,
            started_at: fields.time()?,
            completed_at: fields.time()?,
            status: fields.word()?,
            reason_code: fields.get()?,
            evidence_json: fields.get()?,
            power_metrics_json: fields.get()?,
            runtime_ms: fields.unsigned()?,
            counterexample_id: fields.get()?,
            artifacts_json: fields.get()?,
            notes: fields.get()?,
        })
    }
}

impl Record for CounterexampleRow {
    const TABLE: Table = Table {
        name: "counterexamples",
        columns: &[
            "id",
            "run_id",
            "law_evaluation_id",
            "initial_state",
            "config_json",
            "seed",
            "T",
            "t_fail",
            "witness_json",
            "trajectory_excerpt_json",
            "minimized",
            "created_at",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(keys.link)
            .push_bind(&self.initial_state)
            .push_bind(&self.config_json)
            .push_bind(signed(self.seed))
            .push_bind(signed(self.t))
            .push_bind(signed(self.t_fail))
            .push_bind(&self.witness_json)
            .push_bind(&self.trajectory_excerpt_json)
            .push_bind(i64::from(self.minimized))
            .push_bind(time_text(self.created_at));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            law_evaluation_id: fields.get()?,
            initial_state: fields.get()?,
            config_json: fields.get()?,
            seed: fields.unsigned()?,
            t: fields.unsigned()?,
            t_fail: fields.unsigned()?,
            witness_json: fields.get()?,
            trajectory_excerpt_json: fields.get()?,
            minimized: fields.flag()?,
            created_at: fields.time()?,
        })
    }
}

impl Record for CapabilityRow {
    const TABLE: Table = Table {
        name: "capability_snapshots",
        columns: &[
            "id",
            "run_id",
            "iteration_id",
            "universe_contract_json",
            "harness_capabilities_json",
            "created_at",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(keys.link)
            .push_bind(&self.universe_contract_json)
            .push_bind(&self.harness_capabilities_json)
            .push_bind(time_text(self.created_at));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            iteration_id: fields.get()?,
            universe_contract_json: fields.get()?,
            harness_capabilities_json: fields.get()?,
            created_at: fields.time()?,
        })
    }
}

impl Record for CallRow {
    const TABLE: Table = Table {
        name: "llm_calls",
        columns: &[
            "id",
            "run_id",
            "iteration_id",
            "turn",
            "created_at",
            "model_id",
            "prompt_hash",
            "request_json",
            "reply_text",
            "usage_json",
        ],
    };

    fn write(&self, keys: Keys, values: Values<'_, '_>) {
        values
            .push_bind(keys.id)
            .push_bind(self.run_id)
            .push_bind(self.iteration_id)
            .push_bind(i64::from(self.turn))
            .push_bind(time_text(self.created_at))
            .push_bind(&self.call.model_id)
            .push_bind(&self.call.prompt_hash)
            .push_bind(&self.call.request_json)
            .push_bind(&self.call.reply_text)
            .push_bind(&self.call.usage_json);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: fields.key()?,
            run_id: fields.get()?,
            iteration_id: fields.get()?,
            turn: fields.small()?,
            created_at: fields.time()?,
            call: ModelCallRow {
                model_id: fields.get()?,
                prompt_hash: fields.get()?,
                request_json: fields.get()?,
                reply_text: fields.get()?,
                usage_json: fields.get()?,
            },
        })
    }
}
