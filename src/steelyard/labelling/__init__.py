"""`steelyard active label`: a page to label documents in, which makes labels, a model and a certificate."""
