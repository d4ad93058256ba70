/* Where the keeper of this user listens, for the installation of a link and the environment of this process. */
#ifdef __linux__
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper.h"
#include "launcher.h"

#define FOLDER_BYTES (107 - sizeof "/keep-0123456789abcdef-0123456789abcdef.sock" + 1)

/* Variables that every call of one keeper has in common: what they say holds for a process and not for a call. */
static const char *const EXACT[] = {
    "HOME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "TZDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "IKIGAI_CONFIG_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD", NULL,
};
static const char *const BEGINNINGS[] = {"LC_", "FERRULE_", "PYTHON", "LD_", "MALLOC_", "GLIBC_", NULL};
static const char *const ENDINGS[] = {"_PROXY", "_proxy", NULL};
static const char *const OF_A_CALL[] = {"FERRULE_EXIT_ZERO", "FERRULE_DEADLINE", "FERRULE_CALLER", NULL};

static bool is_one_of(const char *name, size_t size, const char *const *known)
{
    for (; *known != NULL; known++)
        if (strlen(*known) == size && memcmp(name, *known, size) == 0)
            return true;
    return false;
}

static bool is_base(const char *name, size_t size)
{
    if (is_one_of(name, size, OF_A_CALL))
        return false;
    for (const char *const *one = BEGINNINGS; *one != NULL; one++)
        if (strncmp(name, *one, strlen(*one)) == 0)
            return true;
    for (const char *const *one = ENDINGS; *one != NULL; one++)
        if (size >= strlen(*one) && memcmp(name + size - strlen(*one), *one, strlen(*one)) == 0)
            return true;
    return is_one_of(name, size, EXACT);
}

/* The sum of FNV-1a of each base variable, so that their order says nothing. */
static uint64_t hash_base_environment(char *const *environment)
{
    uint64_t sum = 0;
    for (; *environment != NULL; environment++) {
        const char *sign = strchr(*environment, '=');
        if (sign == NULL || !is_base(*environment, (size_t)(sign - *environment)))
            continue;
        uint64_t hash = 0xcbf29ce484222325u;
        for (const char *byte = *environment; *byte != '\0'; byte++)
            hash = (hash ^ (uint8_t)*byte) * 0x100000001b3u;
        sum += hash;
    }
    return sum;
}

/* Is it a folder of this user, which nobody else may enter, and in which a socket may have its name? */
static bool is_private_folder(const char *path)
{
    struct stat facts;
    return strlen(path) <= FOLDER_BYTES && lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & 077) == 0;
}

static bool find_folder(char *path, size_t size)
{
    const char *named = getenv("XDG_RUNTIME_DIR");
    unsigned long user = geteuid();
    if (named != NULL && named[0] == '/' && (size_t)snprintf(path, size, "%s/ferrule", named) < size &&
        is_private_folder(path))
        return true;
    snprintf(path, size, "/run/user/%lu/ferrule", user);
    if (is_private_folder(path))
        return true;
    snprintf(path, size, "/tmp/ferrule-%lu", user);
    return is_private_folder(path);
}

/* Write the path of the socket; false where there is none that can be trusted. */
static bool find_socket(const char *installation, char *path, size_t size)
{
    extern char **environ;
    static char folder[PATH_BYTES];
    struct stat facts;
    return find_folder(folder, sizeof folder) &&
           (size_t)snprintf(path, size, "%s/keep-%s-%016" PRIx64 ".sock", folder, installation,
                            hash_base_environment(environ)) < size &&
           lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode) && facts.st_uid == geteuid();
}

static bool is_own(int file)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Connect without waiting: a keeper whose backlog is full is one that is not there. -1 where there is none. */
int connect_to_keeper(const char *installation)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!find_socket(installation, address.sun_path, sizeof address.sun_path))
        return -1;
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0 || (connect(file, (const struct sockaddr *)&address, sizeof address) == 0 && is_own(file)))
        return file;
    close(file);
    return -1;
}
#endif
