import up_pb2
import up_pb2_grpc


def put(channel, parts: list) -> int:
    stub = up_pb2_grpc.UploadStub(channel)
    return stub.Put(up_pb2.Chunk(data=part) for part in parts).size
