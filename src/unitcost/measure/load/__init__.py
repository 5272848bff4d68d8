"""Load on an endpoint: requests sent when they are due, whatever the server does."""
