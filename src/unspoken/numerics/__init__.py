"""Pure maths on arrays: no input or output, no classes of other rooms."""
