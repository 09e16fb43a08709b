"""Active learning: which labels are asked for, what they prove, what waiting costs."""
