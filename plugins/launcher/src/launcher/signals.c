/* Signals to stop, which are told to the keeper. What this process was started to ignore it goes on ignoring. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "keeper.h"

#define HANDLED 3

static const int numbers[HANDLED] = {SIGTERM, SIGINT, SIGHUP};
static int wake[2] = {-1, -1};
static bool is_caught[HANDLED];

static void remember(int number)
{
    int before = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t written = write(wake[1], &byte, 1); /* a full pipe holds more signals than are looked at */
    (void)written;
    errno = before;
}

static bool make_pipe(void)
{
    int made[2];
    if (pipe(made) != 0)
        return false;
    for (int index = 0; index < 2; index++) {
        wake[index] = fcntl(made[index], F_DUPFD_CLOEXEC, 3); /* stderr may be closed */
        close(made[index]);
        if (wake[index] < 0 || fcntl(wake[index], F_SETFL, O_NONBLOCK) != 0)
            return false;
    }
    return true;
}

void catch_signals(void)
{
    struct sigaction before, caught = {.sa_handler = remember};
    if (!make_pipe())
        return;
    for (int index = 0; index < HANDLED; index++)
        if (sigaction(numbers[index], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            is_caught[index] = sigaction(numbers[index], &caught, NULL) == 0;
}

/* Have signals do again what they do in any program; one that has come does it now. */
void release_signals(void)
{
    for (int index = 0; index < HANDLED; index++)
        if (is_caught[index])
            signal(numbers[index], SIG_DFL);
    int came = take_signal();
    if (came != 0)
        die_by(came);
}

int get_signal_file(void)
{
    return wake[0];
}

/* The next signal that has come, 0 where there is none. */
int take_signal(void)
{
    unsigned char byte;
    return wake[0] >= 0 && read(wake[0], &byte, 1) == 1 ? byte : 0;
}

_Noreturn void die_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}
