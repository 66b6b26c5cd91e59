-- The tables of popper, schema 1.
--
-- Keys are integers in the order of insertion. Times are RFC 3339 in UTC with nine decimals, so that they sort as text.
-- Columns that end in _json hold compact JSON.
-- Seeds, T, t_fail and runtime_ms are unsigned 64-bit numbers, kept as the signed number with the same bits (two's complement):
-- what is below 2^63 reads as it is, and printf('%llu', seed) shows any of them.

CREATE TABLE schema_version (
    version INTEGER NOT NULL PRIMARY KEY
) STRICT;

CREATE TABLE runs (
    id INTEGER NOT NULL PRIMARY KEY,
    created_at TEXT NOT NULL,
    universe_id TEXT NOT NULL,
    sim_hash TEXT NOT NULL,
    harness_hash TEXT NOT NULL,
    discovery_model_id TEXT NOT NULL,
    tester_model_id TEXT,
    config_json TEXT NOT NULL
) STRICT;

CREATE TABLE iterations (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    iteration_index INTEGER NOT NULL CHECK (iteration_index >= 1),
    started_at TEXT NOT NULL,
    completed_at TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'aborted')),
    prompt_hash TEXT,
    summary_json TEXT,
    UNIQUE (run_id, iteration_index)
) STRICT;

CREATE TABLE laws (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    law_id TEXT NOT NULL,
    law_fingerprint TEXT NOT NULL,
    schema_version TEXT NOT NULL,
    template TEXT NOT NULL,
    quantifiers_json TEXT NOT NULL,
    preconditions_json TEXT NOT NULL,
    observables_json TEXT NOT NULL,
    claim_text TEXT NOT NULL,
    forbidden_text TEXT NOT NULL,
    proposed_tests_json TEXT NOT NULL,
    capability_requirements_json TEXT NOT NULL,
    created_iteration_id INTEGER NOT NULL REFERENCES iterations (id),
    raw_llm_json TEXT NOT NULL,
    normalized_json TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('proposed', 'rejected_schema', 'queued', 'tested')),
    UNIQUE (run_id, law_fingerprint)
) STRICT;
CREATE INDEX laws_by_template ON laws (run_id, template);
CREATE INDEX laws_by_status ON laws (run_id, status);

-- An attempt and its counterexample point at each other, so one of the two references waits until the transaction ends.
CREATE TABLE law_evaluations (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    law_id INTEGER NOT NULL REFERENCES laws (id),
    harness_config_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    completed_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('PASS', 'FAIL', 'UNKNOWN')),
    reason_code TEXT,
    evidence_json TEXT NOT NULL,
    power_metrics_json TEXT NOT NULL,
    runtime_ms INTEGER NOT NULL,
    counterexample_id INTEGER REFERENCES counterexamples (id) DEFERRABLE INITIALLY DEFERRED,
    artifacts_json TEXT NOT NULL,
    notes TEXT NOT NULL,
    UNIQUE (run_id, law_id, harness_config_hash, seed)
) STRICT;
CREATE INDEX law_evaluations_by_status ON law_evaluations (run_id, status);
-- For each new counterexample the database looks for attempts that were waiting for it: without this index, among all of them.
CREATE INDEX law_evaluations_by_counterexample ON law_evaluations (counterexample_id) WHERE counterexample_id IS NOT NULL;

CREATE TABLE counterexamples (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    law_evaluation_id INTEGER NOT NULL REFERENCES law_evaluations (id),
    initial_state TEXT NOT NULL,
    config_json TEXT NOT NULL,
    seed INTEGER NOT NULL,
    T INTEGER NOT NULL,
    t_fail INTEGER NOT NULL,
    witness_json TEXT NOT NULL,
    trajectory_excerpt_json TEXT NOT NULL,
    minimized INTEGER NOT NULL CHECK (minimized IN (0, 1)),
    created_at TEXT NOT NULL,
    UNIQUE (run_id, law_evaluation_id)
) STRICT;

CREATE TABLE capability_snapshots (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    iteration_id INTEGER NOT NULL REFERENCES iterations (id),
    universe_contract_json TEXT NOT NULL,
    harness_capabilities_json TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX capability_snapshots_by_run ON capability_snapshots (run_id);

CREATE TABLE llm_calls (
    id INTEGER NOT NULL PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    iteration_id INTEGER NOT NULL REFERENCES iterations (id),
    turn INTEGER NOT NULL CHECK (turn >= 0),
    created_at TEXT NOT NULL,
    model_id TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    request_json TEXT NOT NULL,
    reply_text TEXT NOT NULL,
    usage_json TEXT NOT NULL,
    UNIQUE (iteration_id, turn)
) STRICT;
CREATE INDEX llm_calls_by_run ON llm_calls (run_id);

-- What is decided in this database, whichever run decided it. The hashes scatter over the whole tree, so there is only one: the
-- rows lie in the key's own tree.
CREATE TABLE verdict_keys (
    law_fingerprint TEXT NOT NULL,
    harness_config_hash TEXT NOT NULL,
    sim_hash TEXT NOT NULL,
    evaluation_id INTEGER NOT NULL REFERENCES law_evaluations (id),
    verdict_digest TEXT NOT NULL,
    PRIMARY KEY (law_fingerprint, harness_config_hash, sim_hash)
) STRICT, WITHOUT ROWID;

INSERT INTO schema_version (version) VALUES (1);
