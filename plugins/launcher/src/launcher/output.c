/* Writing to the standard streams, and the exit code of a failure. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

#define PIPE_BYTES 4096 /* a pipe that polls as writable takes this much without blocking */

int64_t get_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Write all, by a time of `get_ms`, and no more once the other file is readable (-1: none). */
bool write_until(int file, const char *data, size_t size, int64_t limit, int other)
{
    while (size > 0) {
        struct pollfd waited[2] = {{.fd = file, .events = POLLOUT}, {.fd = other, .events = POLLIN}};
        int64_t left = limit - get_ms();
        int ready = left > 0 ? poll(waited, 2, left < 60000 ? (int)left : 60000) : 0;
        if ((ready < 0 && errno == EINTR) || (ready == 0 && left > 60000))
            continue;
        if (ready <= 0 || waited[0].revents == 0)
            return false;
        ssize_t written = write(file, data, size < PIPE_BYTES ? size : PIPE_BYTES);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

bool write_all(int file, const char *data, size_t size)
{
    return write_until(file, data, size, INT64_MAX, -1);
}

/* Of a call that has failed: the client that sets IKIGAI_AGENT_ID throws the document away otherwise. */
int choose_exit_code(void)
{
    const char *chosen = getenv("FERRULE_EXIT_ZERO"), *agent = getenv("IKIGAI_AGENT_ID");
    if (chosen != NULL && (strcmp(chosen, "0") == 0 || strcmp(chosen, "1") == 0))
        return chosen[0] == '0';
    return agent == NULL || agent[0] == '\0';
}
