"""What one useful unit costs, at fixed quality. Pure."""
