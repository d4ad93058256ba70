"""The wrapper `cache`: answers a call from what an equal call has got before. In config.toml:

    [wrappers.cache]
    enabled = true
    redis = "redis://cache.example:6379/0"   # FERRULE_REDIS wins; files in the state folder where neither is set
    redis_seconds = 0.25                     # what the server may take of a call, all in all
    max_mib = 256                            # what the files may take together
    negative = true                          # keep failures, too

    [wrappers.cache.tools.web_fetch]
    seconds = 600                            # wins over what the tool says; 0 switches it off

The modules:

    keys           which calls are equal: the hash of everything that decides a result
    ttl            how long a result or a failure may be given again
    entries        what is kept of one call, and how old it is
    store          the store of one machine, and single_flight its locks
    redis_store    the store of several machines
    settings       which of them it is
    cached_call    what becomes of one call; wrapper has the hooks
    inspection     what `ferrule cache` finds out
"""
