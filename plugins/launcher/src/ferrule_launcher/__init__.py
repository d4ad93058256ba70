"""The program that starts linked executables, which is written in C: `ferrule-launcher` among the scripts.

Nothing here is imported by anybody. The entry point of the group `ferrule.launchers` names the program.
"""
