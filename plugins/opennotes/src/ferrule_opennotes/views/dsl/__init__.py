"""Views in the notation of jot: `tag:work -status:done | sort:modified:desc limit:20 group:status`."""
