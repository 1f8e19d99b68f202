import job_pb2


def job() -> bytes:
    return job_pb2.Job(name="a", mode=job_pb2.MODE_FAST).SerializeToString()
