"""The protocontract compiler: annotated .proto files in, typed validators and normalizers out."""
