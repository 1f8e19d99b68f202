import job_pb2


def attempts(raw: bytes) -> int:
    job = job_pb2.Job.FromString(raw)
    return job.retries if job.HasField("retries") else 1
