from google.protobuf.duration_pb2 import Duration

from run_pb2 import Run


def minute() -> Run:
    return Run(id="1", timeout=Duration(seconds=30))
