"""The services of papers that come with this distribution, one file each, and `registry`, which finds all installed."""
