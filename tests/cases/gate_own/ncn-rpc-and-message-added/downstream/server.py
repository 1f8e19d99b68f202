import shop_pb2_grpc


class Server(shop_pb2_grpc.ShopServicer):
    def Get(self, request, context):
        return request
