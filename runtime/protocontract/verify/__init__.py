"""``protocontract verify``: a file of records against the promises of a contract."""
