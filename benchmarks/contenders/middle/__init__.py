"""Contenders of the study ``middle``, beside those of ``speed``."""
