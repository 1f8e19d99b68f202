"""The evidence of a service: for each request the stages that ran, in one chain of hashes that shows any change.

``EvidenceLog`` is the file, ``EvidenceLog.record`` a request's part of it; ``verify`` and ``verify_record`` check them,
``replay`` runs the stages again. docs/evidence.md has the forms byte by byte. Neither gRPC nor NumPy is needed.
"""

from protocontract.chain.anchors import Anchor, anchor_file, read_anchors
from protocontract.chain.canonical import CanonicalError
from protocontract.chain.log import EvidenceLog, Level
from protocontract.chain.recorder import Record, Recorder
from protocontract.chain.stages import ModelStage, Stage
from protocontract.chain.steps import STAGES, BrokenEntry, Entry, EvidenceError, Key, Step
from protocontract.chain.values import ValueStore, digest
from protocontract.chain.verify import Problem, Verification, records, verify, verify_record

__all__ = [
    "STAGES",
    "Anchor",
    "BrokenEntry",
    "CanonicalError",
    "Entry",
    "EvidenceError",
    "EvidenceLog",
    "Key",
    "Level",
    "ModelStage",
    "Problem",
    "Record",
    "Recorder",
    "Stage",
    "Step",
    "ValueStore",
    "Verification",
    "anchor_file",
    "digest",
    "read_anchors",
    "records",
    "verify",
    "verify_record",
]
