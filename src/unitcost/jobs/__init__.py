"""One function per thing a user wants done. The command line, web pages and the Python API call the same job."""
