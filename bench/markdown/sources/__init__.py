"""What the converters are given: real pages, examples of the specifications, random texts."""
