"""The annotation vocabulary, as Python module and as .proto source."""
