import order_pb2_grpc
class S(order_pb2_grpc.ShopServicer):
    def Get(self, request, context):
        return request
