"""The makers of models: what is sent to each one's API, and what its answers say. Pure; nothing is sent from here.

`dialogue` is what a model gets and what it replies, in no maker's form. Each other file but `json_text` and
`registry` is one maker's API, which is a `Provider`; other distributions add theirs as entry points of the group
`ferrule.models`.
"""
