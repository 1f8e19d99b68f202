import job_pb2


def fast(raw: bytes) -> bool:
    return job_pb2.Job.FromString(raw).mode == job_pb2.MODE_FAST
