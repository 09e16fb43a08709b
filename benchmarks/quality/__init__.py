"""How good the models are: defaults, rates, weights, probabilities."""
