"""Tables and figures of the papers, published numbers beside ours."""
