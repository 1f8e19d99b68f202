import job_pb2


def attempts(raw: bytes) -> int:
    return job_pb2.Job.FromString(raw).retries or 1
