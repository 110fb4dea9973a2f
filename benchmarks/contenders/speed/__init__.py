"""Contenders of the study ``speed``: all that picks the few features of wide data that tell its classes apart."""
