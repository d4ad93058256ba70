"""What the kernel holds: Landlock rules, filters of system calls, privileges, and what this kernel can do."""
