"""Attacks that get through or have no effect, of which docs/explanation/trust.md has the reasons."""

BY_THE_KERNEL = "was let through by the kernel"
# What a tool can still learn, and the only damage that it may do so.
OPEN = {
    "call_of_a_neighbour_beside_a_copy": "stole the secret argument",
    "connections_of_the_machine": BY_THE_KERNEL,
    "existence_of_a_neighbour_in_proc": BY_THE_KERNEL,
    "existence_of_a_secret": BY_THE_KERNEL,
    "mounts_of_the_machine": BY_THE_KERNEL,
    "secret_in_a_links_target": "stole the secret link",
    "size_of_a_secret": BY_THE_KERNEL,
    "size_of_a_secret_by_a_descriptor": BY_THE_KERNEL,
    "sockets_of_the_machine": BY_THE_KERNEL,
}
# By class: the sentence of docs/explanation/trust.md that does not promise it, and those of OPEN that it covers.
NOT_PROMISED = {
    "facts of files": (
        "Landlock has no right that covers them.",
        (
            *("existence_of_a_neighbour_in_proc", "existence_of_a_secret", "secret_in_a_links_target"),
            *("size_of_a_secret", "size_of_a_secret_by_a_descriptor"),
        ),
    ),
    "sockets of the machine": (
        "`/proc/self` is open, and Landlock cannot leave out a folder below one that it opens.",
        ("connections_of_the_machine", "mounts_of_the_machine", "sockets_of_the_machine"),
    ),
    "calls of others": (
        "A tool with `programs` or `processes` sees how the processes of the machine were called",
        ("call_of_a_neighbour_beside_a_copy",),
    ),
}
# What is stopped without an error that could be told: it has no effect, or what it leaves is removed afterwards.
QUIET = {
    "answer_by_its_own_descriptors",
    "copies_that_stay",
    "copy_that_stays",
    "file_in_its_temporary_folder",
    "file_in_shared_memory",
    "shared_memory_left",
    "shared_memory_that_stays",
    "signal_by_a_pipe",
    "temporary_folder_replaced",
}
# What a tool learns of others while a server imports it, whose copies have to find themselves in /proc later.
OPEN_WHILE_IMPORTED = ("command_lines_of_others", "files_on_a_neighbour", "processes_of_the_machine")
# What a tool learns while a command of the admin loads it, in a copy of a process that has read config.toml.
OPEN_WHILE_LOADED = ("key_in_own_memory",)
