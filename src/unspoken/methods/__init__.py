"""Release methods: one folder per family, with its mathematics, learners and adversaries."""
