"""Rows that weigh: the data sets, the ways to learn them, the measures, and the work behind each study."""
