"""What learns chunk by chunk: one model, a selection among settings, one class against the rest."""
