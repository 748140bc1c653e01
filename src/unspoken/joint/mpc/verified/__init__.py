"""Three parties of whom one may deviate: the third owner deals tags, and proves what it dealt."""
