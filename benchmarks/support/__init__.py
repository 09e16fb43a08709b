"""What benchmarks share: data sets, timing, sections of pages."""
