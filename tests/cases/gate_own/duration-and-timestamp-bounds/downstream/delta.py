from datetime import timedelta

from run_pb2 import Run


def ten() -> Run:
    run = Run(id="1")
    run.timeout.FromTimedelta(timedelta(minutes=10))
    return run
