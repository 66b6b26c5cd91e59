-- Schema 2: the numbers of laws and attempts of a run, which were counted anew for each question.
--
-- `status` is the status of a law, or the verdict on a tested law (with its reason, if it has one), or `attempts`.
CREATE TABLE run_counts (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (run_id, status, reason)
) STRICT, WITHOUT ROWID;

INSERT INTO run_counts (run_id, status, reason, n)
SELECT run_id, status, '', COUNT(*) FROM laws GROUP BY run_id, status;

INSERT INTO run_counts (run_id, status, reason, n)
SELECT l.run_id, e.status, COALESCE(e.reason_code, ''), COUNT(*)
FROM laws l
JOIN runs r ON r.id = l.run_id
JOIN verdict_keys k ON k.law_fingerprint = l.law_fingerprint AND k.harness_config_hash = r.harness_hash AND k.sim_hash = r.sim_hash
JOIN law_evaluations e ON e.id = k.evaluation_id
WHERE l.status = 'tested'
GROUP BY l.run_id, e.status, COALESCE(e.reason_code, '');

INSERT INTO run_counts (run_id, status, reason, n)
SELECT run_id, 'attempts', '', COUNT(*) FROM law_evaluations GROUP BY run_id;

UPDATE schema_version SET version = 2;
