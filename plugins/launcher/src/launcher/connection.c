/* The connection to a keeper, which has to be a process of this user. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper.h"

static bool is_own(int file)
{
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
#else
    uid_t user;
    gid_t group;
    return getpeereid(file, &user, &group) == 0 && user == geteuid();
#endif
}

static int open_socket(void)
{
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    if (made < 0)
        return -1;
    int file = fcntl(made, F_DUPFD_CLOEXEC, 3); /* stderr may be closed */
    close(made);
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    return file;
}

/* Connect without waiting: a keeper whose backlog is full is one that is not there. -1 where there is none. */
int connect_to_keeper(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    int file = open_socket();
    if (file < 0)
        return -1;
    if (fcntl(file, F_SETFL, O_NONBLOCK) == 0 &&
        connect(file, (const struct sockaddr *)&address, sizeof address) == 0 && is_own(file))
        return file;
    close(file);
    return -1;
}
