"""protocontract: data contracts for protobuf, enforced where data enters."""
