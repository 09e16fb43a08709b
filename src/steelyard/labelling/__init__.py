"""`steelyard active label`: a page to label in; documents in, labels, a model and a certificate out."""
