-- Schema 3: the claims that are proved, so that a law that differs from a proved one in T alone is not tested. As in migrations/sqlite.
--
-- A key can name an attempt at another law since then, so keys are found by the attempt, too.
CREATE TABLE proved_claims (
    claim_fingerprint TEXT COLLATE "C" NOT NULL,
    harness_config_hash TEXT COLLATE "C" NOT NULL,
    sim_hash TEXT COLLATE "C" NOT NULL,
    proved_h BIGINT NOT NULL,
    evaluation_id BIGINT NOT NULL REFERENCES law_evaluations (id),
    verdict_digest TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (claim_fingerprint, harness_config_hash, sim_hash)
);
CREATE INDEX verdict_keys_by_evaluation ON verdict_keys (evaluation_id);

UPDATE schema_version SET version = 3;
