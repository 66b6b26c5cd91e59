-- The rights of workers. The engine switches row security on and makes no policy, so that only the owner would get its rows.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'work_queue_worker') THEN
        BEGIN
            CREATE ROLE work_queue_worker NOLOGIN;
        EXCEPTION
            -- Another database of the server makes it at the same time.
            WHEN duplicate_object OR unique_violation THEN NULL;
            -- An administrator makes it and gives it the rights, see docs/many-machines.md.
            WHEN insufficient_privilege THEN RETURN;
        END;
    END IF;
    GRANT USAGE ON SCHEMA work_queue, graphile_worker TO work_queue_worker;
    GRANT SELECT ON work_queue._sqlx_migrations, graphile_worker.migrations TO work_queue_worker;
    GRANT SELECT, INSERT, UPDATE ON work_queue.work, work_queue.results, work_queue.late, work_queue.conflicts
        TO work_queue_worker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON work_queue.workers, graphile_worker._private_jobs,
        graphile_worker._private_job_retirements, graphile_worker._private_tasks, graphile_worker._private_job_queues,
        graphile_worker._private_workers
        TO work_queue_worker;
    DROP POLICY IF EXISTS work_queue_worker ON graphile_worker._private_jobs;
    DROP POLICY IF EXISTS work_queue_worker ON graphile_worker._private_tasks;
    DROP POLICY IF EXISTS work_queue_worker ON graphile_worker._private_job_queues;
    CREATE POLICY work_queue_worker ON graphile_worker._private_jobs TO work_queue_worker USING (true) WITH CHECK (true);
    CREATE POLICY work_queue_worker ON graphile_worker._private_tasks TO work_queue_worker USING (true) WITH CHECK (true);
    CREATE POLICY work_queue_worker ON graphile_worker._private_job_queues
        TO work_queue_worker USING (true) WITH CHECK (true);
END
$$;
