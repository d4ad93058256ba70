"""Search providers on loopback, and the contract that every search tool keeps."""
