/* The sections of a link file: a line each, `NAME VALUE`, in which a backslash is \\ and a line feed \n. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static char text_of_link[LINK_BYTES + 1];

/* Undo the escapes of one value in its place; the end of what is left, or NULL where there is another escape. */
static char *unescape(char *value, char *end)
{
    char *to = memchr(value, '\\', (size_t)(end - value));
    if (to == NULL)
        return end;
    for (char *from = to; from < end; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        if (++from == end || (*from != '\\' && *from != 'n'))
            return NULL;
        *to++ = *from == 'n' ? '\n' : '\\';
    }
    return to;
}

static bool parse_line(struct field *field, char *line, char *end)
{
    char *blank = memchr(line, ' ', (size_t)(end - line));
    if (blank == NULL || blank == line)
        return false;
    *blank = '\0';
    char *last = unescape(blank + 1, end);
    if (last == NULL)
        return false;
    *last = '\0'; /* the line feed, or what the escapes have freed before it */
    field->name = line;
    field->value = blank + 1;
    return true;
}

/* Read the sections after the first two lines. text: is changed, and has to last as long as the link. */
bool parse_link(struct link *link, char *text, size_t size)
{
    char *line = text, *const end = text + size;
    link->fields = 0;
    if (size == 0 || memchr(text, '\0', size) != NULL)
        return false;
    for (size_t number = 0; line < end; number++) {
        char *feed = memchr(line, '\n', (size_t)(end - line));
        if (feed == NULL)
            return false; /* cut off */
        if (number >= 2) {
            if (link->fields == LINK_FIELDS || !parse_line(&link->field[link->fields], line, feed))
                return false;
            link->fields++;
        }
        line = feed + 1;
    }
    const char *form = get_value(link, "form");
    return form != NULL && strcmp(form, FORM) == 0;
}

bool read_link(struct link *link, const char *path)
{
    size_t size = 0;
    ssize_t got = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &link->facts) == 0 && S_ISREG(link->facts.st_mode)) {
        while (size <= LINK_BYTES && (got = read(file, text_of_link + size, LINK_BYTES + 1 - size)) != 0) {
            if (got < 0 && errno != EINTR)
                break;
            size += got > 0 ? (size_t)got : 0;
        }
    }
    close(file);
    return got == 0 && size <= LINK_BYTES && parse_link(link, text_of_link, size);
}

/* The value of the next section of this name, NULL where there is none. from: where to look on. */
const char *find_value(const struct link *link, const char *name, size_t *from)
{
    while (*from < link->fields) {
        const struct field *field = &link->field[(*from)++];
        if (strcmp(field->name, name) == 0)
            return field->value;
    }
    return NULL;
}

const char *get_value(const struct link *link, const char *name)
{
    size_t from = 0;
    return find_value(link, name, &from);
}
