/* May the link's schema be shown as it stands? The same tests as those of a link in shell, in the same order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

#ifdef __APPLE__
#define MODIFIED st_mtimespec
#else
#define MODIFIED st_mtim
#endif

#define MARK_BYTES 65536

static bool is_newer(const struct stat *one, const struct stat *other)
{
    if (one->MODIFIED.tv_sec != other->MODIFIED.tv_sec)
        return one->MODIFIED.tv_sec > other->MODIFIED.tv_sec;
    return one->MODIFIED.tv_nsec > other->MODIFIED.tv_nsec;
}

static bool is_of_same_time(const struct stat *one, const struct stat *other)
{
    return !is_newer(one, other) && !is_newer(other, one);
}

static bool is_there(const char *path, struct stat *facts)
{
    return path != NULL && stat(path, facts) == 0;
}

bool is_python_there(const struct link *link)
{
    const char *python = get_value(link, "python");
    return python != NULL && access(python, X_OK) == 0;
}

/* Is the schema that of what is installed? What it was made from is there, and not newer than the link. */
bool is_fresh(const struct link *link)
{
    struct stat facts;
    size_t from = 0;
    const char *path;
    if (!is_python_there(link))
        return false;
    while ((path = find_value(link, "watched", &from)) != NULL)
        if (!is_there(path, &facts) || is_newer(&facts, &link->facts))
            return false;
    return true;
}

static bool has_word(const char *line, const char *end, const char *word)
{
    size_t size = strlen(word);
    while (line < end) {
        const char *blank = memchr(line, ' ', (size_t)(end - line));
        const char *last = blank == NULL ? end : blank;
        if ((size_t)(last - line) == size && memcmp(line, word, size) == 0)
            return true;
        line = last + 1;
    }
    return false;
}

/* Read the one line of a mark; false where it has none. named: set where the tool is in it. */
static bool read_mark(const char *path, const char *tool, bool *named)
{
    static char line[MARK_BYTES];
    size_t size = 0;
    ssize_t got;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    while (size < sizeof line && (got = read(file, line + size, sizeof line - size)) > 0)
        size += (size_t)got;
    close(file);
    const char *end = memchr(line, '\n', size);
    if (end == NULL)
        return false;
    *named = *named || has_word(line, end, tool);
    return true;
}

/* What config.toml and ferrule.lock say of the tool; false where their marks are not of their times. */
static bool read_switches(const struct link *link, const char *tool, bool *named)
{
    struct stat config, off, lock, differing;
    const char *off_path = get_value(link, "off"), *differing_path = get_value(link, "differing");
    if (!is_there(get_value(link, "config"), &config))
        return true;
    if (!is_there(off_path, &off) || !is_of_same_time(&config, &off) || !read_mark(off_path, tool, named))
        return false;
    bool has_differing = is_there(differing_path, &differing);
    if (!is_there(get_value(link, "lock"), &lock))
        return !has_differing;
    return has_differing && is_of_same_time(&lock, &differing) && read_mark(differing_path, tool, named);
}

/* Which names are claimed twice; false where something has been installed or removed since the mark was written. */
static bool read_claims(const struct link *link, const char *tool, bool *named)
{
    struct stat mark, folder;
    size_t from = 0;
    const char *path, *mark_path = get_value(link, "clash");
    if (!is_there(mark_path, &mark))
        return false;
    while ((path = find_value(link, "folder", &from)) != NULL)
        if (is_there(path, &folder) && is_newer(&folder, &mark))
            return false;
    return read_mark(mark_path, tool, named);
}

/* Do the marks say that the tool may be offered? known: whether they are up to date. */
bool is_offered(const struct link *link, bool *known)
{
    bool named = false;
    const char *tool = get_value(link, "tool");
    *known = tool != NULL && read_switches(link, tool, &named) && read_claims(link, tool, &named);
    return *known && !named;
}
