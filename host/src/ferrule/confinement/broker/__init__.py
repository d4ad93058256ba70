"""What is made in the place of a child: system calls that the supervising process judges and makes itself."""
