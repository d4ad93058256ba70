"""What the admin's commands find out and write: inventory, diagnosis, links, snapshots. Prints nothing."""
