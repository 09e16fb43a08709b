"""Engines learn chunk by chunk: one model, a selection among settings, or one class against the rest."""
