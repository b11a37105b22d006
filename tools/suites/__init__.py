"""Other people's test suites, file by file, on a virtual GPU or on a real one: the same record of both."""
