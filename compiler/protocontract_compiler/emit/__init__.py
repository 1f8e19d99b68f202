"""Back ends: each turns the IR into files. They see the IR, the names and the writer, and nothing of protobuf."""
