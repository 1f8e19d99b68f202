import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """As many answers as the first number says."""

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            x = pb_utils.get_input_tensor_by_name(request, "x").as_numpy()
            for _ in range(int(x[0, 0])):
                sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("y", x + x)]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
