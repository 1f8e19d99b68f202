"""INT8 models calibrated on recorded traffic that keeps a contract: ``protocontract calibrate`` (extra ``calibrate``).

- ``reservoir`` draws the calibration set and the records that are held out, by content and seed;
- ``inputs`` turns records into what the model takes, through ``Contract.tensors`` or a step of the user's;
- ``quantize`` is all of onnxruntime: it quantises, and labels samples with both models;
- ``calibration`` puts these together, and holds the result to the declared agreement.

docs/calibration.md.
"""
