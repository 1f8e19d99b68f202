from run_pb2 import Run


def hour() -> Run:
    run = Run(id="1")
    run.timeout.seconds = 3600
    return run
