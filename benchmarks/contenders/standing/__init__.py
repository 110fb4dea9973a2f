"""Contenders of ``benchmarks.standing`` beside METHODS: each file has ``make(k, seed)``, which returns a selector."""
