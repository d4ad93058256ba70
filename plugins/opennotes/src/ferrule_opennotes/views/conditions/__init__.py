"""Views in the notation of OpenNotes: conditions, groups and orders, as a SELECT.

They mean what SQL means: NULL matches nothing, text is compared as text and a cast makes numbers of it; a list matches
by each of its items.
"""
