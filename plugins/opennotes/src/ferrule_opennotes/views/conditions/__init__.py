"""Views in the notation of OpenNotes: conditions, groups and orders, with the meaning that SQL gives them.

They are looked at as SQL would, on the values that YAML has: NULL matches nothing, text is compared as text and a cast
makes numbers of it; a list matches `=` and `IN` by each of its items.
"""
