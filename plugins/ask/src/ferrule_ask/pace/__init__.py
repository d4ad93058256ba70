"""How often a provider may be asked, and when a request's turn is: for all that ask with one key.

`bucket` is what is known of a provider's limits, `stated_limits` what its headers say of them, `store` where that is
kept for other processes and machines, `clock` what tells the time, and `pacer` what a request waits for.

Limiters such as pyrate-limiter, limits and aiolimiter want to be told the limits before; these are learnt, change, and
are halted by one refusal.
"""
