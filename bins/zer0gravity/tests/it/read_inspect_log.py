"""Reads a log with Inspect and lets it compute the metrics again: LOG FOLDER."""

import json
import sys

from inspect_ai.log import list_eval_logs, read_eval_log, recompute_metrics

log = read_eval_log(sys.argv[1])
header = read_eval_log(sys.argv[1], header_only=True)
assert header.eval.task_id == log.eval.task_id and not header.samples
recompute_metrics(log)

print(
    json.dumps(
        {
            "status": log.status,
            "listed": [info.task_id for info in list_eval_logs(sys.argv[2])],
            "samples": len(log.samples),
            "failed": sum(sample.error is not None for sample in log.samples),
            "inputs": [sample.input for sample in log.samples],
            "scores": [
                {"name": score.name} | {metric.name: metric.value for metric in score.metrics.values()}
                for score in log.results.scores
            ],
        }
    )
)
