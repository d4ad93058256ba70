"""What the processes of a call may have in memory together: a control group holds it, or a watch looks at it."""
