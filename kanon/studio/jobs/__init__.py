"""Worker processes beside the server, and the runner of a session's calculations."""
