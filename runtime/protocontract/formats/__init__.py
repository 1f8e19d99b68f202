"""Formats that buf.validate names (email, hostname, ip, uri), each written from its RFC."""
