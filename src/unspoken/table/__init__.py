"""Tables: schema, reading, formats, baskets, and the engines that count and map rows."""
