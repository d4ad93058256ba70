"""Plugins of pytest: the tiers, the time limit of a test, what is left running, and how tests are collected."""
