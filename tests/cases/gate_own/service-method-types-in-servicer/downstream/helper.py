import shop_pb2
import shop_pb2_grpc


class Server(shop_pb2_grpc.ShopServicer):
    def List(self, request, context):
        reply = self._reply(request)
        reply.total = len(reply.ids)
        return reply

    def _reply(self, request):
        return shop_pb2.Reply(ids=[request.id])
