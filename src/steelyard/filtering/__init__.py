"""Files filtered by the scores of models: `steelyard filter`, from Python."""

from steelyard.filtering.audit import FilterAudit, Interval, audit_filter
from steelyard.filtering.run import FilterResult, filter_files
from steelyard.filtering.table_scorer import TableScorer

__all__ = ["FilterAudit", "FilterResult", "Interval", "TableScorer", "audit_filter", "filter_files"]
