"""Decoding mined models into the models of the original data, bit for bit."""

from __future__ import annotations

from unspoken.methods.encoding.decode.dispatch import decode_with

__all__ = ["decode_with"]
