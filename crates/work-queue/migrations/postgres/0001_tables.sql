-- Jobs of every kind. State: 0 open, 2 done, 3 split, 4 quarantined, 5 conflict.
CREATE TABLE work_queue.work (
    key TEXT COLLATE "C" PRIMARY KEY CHECK (length(key) = 64),
    kind TEXT COLLATE "C" NOT NULL,
    semantics TEXT COLLATE "C" NOT NULL,
    group_id TEXT COLLATE "C" NOT NULL,
    input BYTEA NOT NULL,
    state SMALLINT NOT NULL DEFAULT 0 CHECK (state IN (0, 2, 3, 4, 5)),
    deliveries INTEGER NOT NULL DEFAULT 0 CHECK (deliveries >= 0),
    parent TEXT COLLATE "C",
    problem TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX work_group ON work_queue.work (group_id, state);

-- The first result of each job.
CREATE TABLE work_queue.results (
    key TEXT COLLATE "C" PRIMARY KEY,
    output BYTEA NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    comparable BOOLEAN NOT NULL,
    worker TEXT COLLATE "C" NOT NULL,
    delivery INTEGER NOT NULL,
    meta TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    audited_at TIMESTAMPTZ
);

-- Workers that run now.
CREATE TABLE work_queue.workers (
    name TEXT COLLATE "C" PRIMARY KEY,
    engine_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    semantics TEXT COLLATE "C" NOT NULL,
    threads INTEGER NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    started_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    finished BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

-- Results that came after the first and were equal to it.
CREATE TABLE work_queue.late (
    key TEXT COLLATE "C" NOT NULL,
    worker TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX late_key ON work_queue.late (key);

-- Results that differ. No program deletes them.
CREATE TABLE work_queue.conflicts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key TEXT COLLATE "C" NOT NULL,
    group_id TEXT COLLATE "C" NOT NULL,
    input BYTEA NOT NULL,
    first_worker TEXT COLLATE "C" NOT NULL,
    first_digest TEXT COLLATE "C" NOT NULL,
    first_output BYTEA NOT NULL,
    second_worker TEXT COLLATE "C",
    second_digest TEXT COLLATE "C",
    second_output BYTEA,
    problem TEXT COLLATE "C" NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    resolved_at TIMESTAMPTZ
);
CREATE INDEX conflicts_open ON work_queue.conflicts (group_id) WHERE resolved_at IS NULL;
