"""What is no HTML, given back so that it can be read: JSON, XML, feeds, PDF."""
