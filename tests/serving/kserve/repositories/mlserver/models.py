import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.types import InferenceResponse


class Scale(MLModel):
    """Twice the input, whatever its dtype and shape; 0 in place of NaN, which an answer of MLServer cannot hold."""

    async def predict(self, payload):
        x = NumpyCodec.decode_input(payload.inputs[0]).astype(np.float32)
        output = NumpyCodec.encode_output("y", np.nan_to_num(x + x))
        return InferenceResponse(id=payload.id, model_name=self.name, model_version=self.version, outputs=[output])


class Lengths(MLModel):
    """The length of each text, in bytes."""

    async def predict(self, payload):
        texts = StringCodec.decode_input(payload.inputs[0])
        lengths = np.array([len(text.encode()) for text in texts], dtype=np.int64)
        output = NumpyCodec.encode_output("length", lengths)
        output.shape = [len(lengths)]  # the codec makes two axes of one
        return InferenceResponse(id=payload.id, model_name=self.name, model_version=self.version, outputs=[output])
