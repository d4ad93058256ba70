"""What a call touches: files, programs, connections, names, variables and processes, seen while it runs.

The child installs a seccomp filter, by which the kernel tells this process of each system call that opens, changes,
runs or connects something, and goes on with it. What Python alone knows, such as the name that is resolved, the child
says itself. So nothing here holds a tool to anything, and a tool that wants to hide something can: it is for authors
who write the declaration of their own tool.
"""
