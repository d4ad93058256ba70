"""Whose a credential is: which tool owns a name, and which variables belong to other programs."""
