/* Writing to the standard streams, and the exit code of a failure. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, data, size);
        if (written >= 0) {
            data += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd waited = {.fd = file, .events = POLLOUT};
            poll(&waited, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Of a call that has failed: the client that sets IKIGAI_AGENT_ID throws the document away otherwise. */
int choose_exit_code(void)
{
    const char *chosen = getenv("FERRULE_EXIT_ZERO"), *agent = getenv("IKIGAI_AGENT_ID");
    if (chosen != NULL && strcmp(chosen, "1") == 0)
        return 0;
    if (chosen != NULL && strcmp(chosen, "0") == 0)
        return 1;
    return agent != NULL && agent[0] != '\0' ? 0 : 1;
}
