import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """The length of each text, in bytes."""

    def execute(self, requests):
        found = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "text").as_numpy()
            lengths = np.array([len(text) for text in texts.reshape(-1)], dtype=np.int64)
            found.append(pb_utils.InferenceResponse([pb_utils.Tensor("length", lengths)]))
        return found
