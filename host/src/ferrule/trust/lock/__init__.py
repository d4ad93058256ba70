"""ferrule.lock: which tools the admin has accepted, as they were then, and whether those that are installed still are.

`gate` is on the path of a call, where the configuration says `locked = true`, and imports next to nothing. A call looks
at the times of files (`memory`); only where one has changed are digests taken and compared.
"""
