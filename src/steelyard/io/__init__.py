"""Bytes → Examples: Vowpal Wabbit text, svmlight, delimited text, JSON lines, Arrow and Parquet."""
