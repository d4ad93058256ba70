"""Servers and pages that are built to stall, swell or deceive a reader."""
