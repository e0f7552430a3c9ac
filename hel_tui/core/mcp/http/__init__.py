"""Servers over HTTP: streamable HTTP of both eras, legacy HTTP+SSE, headers made by a command.

Everything here speaks HTTP and hands over lines; what they mean is the wire's concern.
"""
