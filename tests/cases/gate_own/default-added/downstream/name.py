import job_pb2


def name(raw: bytes) -> str:
    return job_pb2.Job.FromString(raw).name
