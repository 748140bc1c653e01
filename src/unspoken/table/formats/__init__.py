"""Everything that unspoken knows about files of data; `file_formats` is the table of formats."""
