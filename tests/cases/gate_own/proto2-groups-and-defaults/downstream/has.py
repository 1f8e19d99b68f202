import job_pb2


def fast(raw: bytes) -> bool:
    job = job_pb2.Job.FromString(raw)
    return job.HasField("mode") and job.mode == job_pb2.MODE_FAST
