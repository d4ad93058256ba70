/* Signals to stop, which wait in a file for the keeper. What this process was started to ignore it goes on ignoring. */
#ifdef __linux__
#define _GNU_SOURCE
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "keeper.h"

static sigset_t before;
static int file = -1;

/* The file in which signals to stop are from now on; -1 where there is none. */
int catch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction found;
    sigset_t caught;
    sigemptyset(&caught);
    sigprocmask(SIG_SETMASK, NULL, &before);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
        if (sigaction(numbers[index], NULL, &found) == 0 && found.sa_handler != SIG_IGN &&
            sigismember(&before, numbers[index]) == 0)
            sigaddset(&caught, numbers[index]);
    if ((file = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK)) >= 0)
        sigprocmask(SIG_BLOCK, &caught, NULL);
    return file;
}

/* Have signals do again what they do in any program; one that has come does it now. */
void release_signals(void)
{
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The next signal that has come, 0 where there is none. */
int take_signal(void)
{
    struct signalfd_siginfo came;
    return read(file, &came, sizeof came) == (ssize_t)sizeof came ? (int)came.ssi_signo : 0;
}
#endif
