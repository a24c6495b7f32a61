"""Encryption of every payload: the key ring, the codec, and the codec server for people's eyes.

Importing this package loads none of them: `from surestep.encryption.converter import …`.
"""
