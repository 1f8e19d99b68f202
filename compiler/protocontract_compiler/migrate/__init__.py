"""Annotations of others, turned into buf.validate and protocontract: the command ``protocontract migrate``.

Sources are read as text, without the option files that they import (nobody needs to have them), and edited in place:
what is no annotation stays as it is, comments and layout included. Only what means the same is turned; the rest stays,
and is listed with its place and the reason.
"""
