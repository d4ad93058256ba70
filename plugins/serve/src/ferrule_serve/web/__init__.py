"""What everything shares that is served over HTTP: the bodies of requests, and the names that are trusted."""
