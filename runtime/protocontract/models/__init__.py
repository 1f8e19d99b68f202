"""A model beside its contract: what it is, whether it fits, and where it runs (extra ``serving``).

    model = Model("model.onnx", Provider.parse("cuda"))          # on CUDA, or not at all
    compare(model.path, model.signature, Expected(ENTITY_MODEL_INPUT, ENTITY_MODEL_OUTPUT)).demand()
    ran = model.run({"input_ids": ids, "attention_mask": mask})

Needs no gRPC. docs/models.md.
"""

from protocontract.extras import missing_extra

try:
    from protocontract.models.batcher import Batcher, Runner
    from protocontract.models.batching import (
        Answer,
        BatchError,
        BatchFacts,
        BatchFailed,
        Draining,
        OutOfTime,
        QueueFull,
        TooManyRows,
        WrongRows,
    )
    from protocontract.models.comparison import Comparison, Difference, Expected, compare
    from protocontract.models.engine import Engine
    from protocontract.models.errors import ModelError, ModelMismatch, NoProvider, RunFailed, WrongInput
    from protocontract.models.fallback import Degrading, Fallback
    from protocontract.models.identity import Identity
    from protocontract.models.labels import Labels, find_labels, read_labels
    from protocontract.models.probes import Probes
    from protocontract.models.providers import Attempt, Provider
    from protocontract.models.session import Model, Ran, read_signature
    from protocontract.models.signature import Port, Signature
    from protocontract.models.stand_in import with_fallback
    from protocontract.models.tensorrt import BatchSizes
except ImportError as error:
    raise (missing_extra("protocontract.models", error, "serving") or error) from None

__all__ = [
    "Answer",
    "Attempt",
    "BatchError",
    "BatchFacts",
    "BatchFailed",
    "BatchSizes",
    "Batcher",
    "Comparison",
    "Degrading",
    "Difference",
    "Draining",
    "Engine",
    "Expected",
    "Fallback",
    "Identity",
    "Labels",
    "Model",
    "ModelError",
    "ModelMismatch",
    "NoProvider",
    "OutOfTime",
    "Port",
    "Probes",
    "Provider",
    "QueueFull",
    "Ran",
    "RunFailed",
    "Runner",
    "Signature",
    "TooManyRows",
    "WrongInput",
    "WrongRows",
    "compare",
    "find_labels",
    "read_labels",
    "read_signature",
    "with_fallback",
]
