"""What is made instead of a child: system calls that the supervising process judges and makes itself."""
