"""Pages in a browser on the same calls as the command line: look before you release.

`studio_app.make_studio` builds the application, `run_studio.serve_studio` runs it on the loopback
device. Nothing is computed here that the library cannot do.
"""
