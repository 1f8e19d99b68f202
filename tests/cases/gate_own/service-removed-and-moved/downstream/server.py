import shop_pb2
from shop_pb2_grpc import AdminServicer, add_AdminServicer_to_server


class Admin(AdminServicer):
    def Purge(self, request, context):
        return shop_pb2.Reply(id=request.id)


def register(server) -> None:
    add_AdminServicer_to_server(Admin(), server)
