"""Commands that change what is there: install, uninstall, link, unlink, credentials."""
