/* Writing and reading of frames in memory. */
#ifdef __linux__
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper.h"
#include "launcher.h"

#define RESOURCES 16
#define LIMITS_BYTES (RESOURCES * 48)

extern char **environ;

static void put_number(uint8_t *to, size_t number)
{
    for (int index = 0; index < 4; index++)
        to[index] = (uint8_t)(number >> (8 * index));
}

static size_t get_number(const uint8_t *from)
{
    return (size_t)from[0] | (size_t)from[1] << 8 | (size_t)from[2] << 16 | (size_t)from[3] << 24;
}

/* Add one behind what waits; false where there is no room. */
bool add_frame(struct buffer *out, char type, const void *payload, size_t size)
{
    if (size > FRAME_BYTES || out->size + HEAD_BYTES + size > sizeof out->data)
        return false;
    uint8_t *to = out->data + out->size;
    to[0] = (uint8_t)type;
    put_number(to + 1, size);
    if (size > 0)
        memcpy(to + HEAD_BYTES, payload, size);
    out->size += HEAD_BYTES + size;
    return true;
}

static bool add_field(struct buffer *out, const char *text)
{
    size_t size = strlen(text);
    if (out->size + 4 + size > HEAD_BYTES + FRAME_BYTES)
        return false;
    put_number(out->data + out->size, size);
    memcpy(out->data + out->size + 4, text, size);
    out->size += 4 + size;
    return true;
}

/* `soft:hard,...`, -1 for unlimited, as a resource is that this system does not have. */
static void write_limits(char *text, size_t size)
{
    for (int resource = 0; resource < RESOURCES; resource++) {
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        getrlimit(resource, &limit);
        long long soft = (long long)limit.rlim_cur, hard = (long long)limit.rlim_max;
        int used = snprintf(text, size, "%s%lld:%lld", resource > 0 ? "," : "", soft, hard);
        text += used;
        size -= (size_t)used;
    }
}

/* The first frame: what a call takes from its process. False where it cannot be said, or is too long. */
bool add_hello(struct buffer *out, const char *orders)
{
    static char folder[PATH_BYTES], limits[LIMITS_BYTES], mask[16];
    out->size = HEAD_BYTES;
    if (getcwd(folder, sizeof folder) == NULL || folder[0] != '/')
        return false;
    mode_t mode = umask(0);
    umask(mode);
    snprintf(mask, sizeof mask, "%o", (unsigned)mode);
    write_limits(limits, sizeof limits);
    bool fits = add_field(out, PROTOCOL) && add_field(out, orders) && add_field(out, folder) && add_field(out, mask) &&
                add_field(out, isatty(STDERR_FILENO) ? "t" : "") && add_field(out, limits);
    for (char **variable = environ; fits && *variable != NULL; variable++)
        fits = add_field(out, *variable);
    out->data[0] = 'H';
    put_number(out->data + 1, out->size - HEAD_BYTES);
    return fits;
}

/* Look for a whole frame behind the first bytes that have come. */
enum found find_frame(const struct buffer *in, size_t from, struct frame *frame)
{
    const uint8_t *head = in->data + from;
    if (in->size - from < HEAD_BYTES)
        return FRAME_MISSING;
    *frame = (struct frame){(char)head[0], head + HEAD_BYTES, get_number(head + 1)};
    if (frame->size > FRAME_BYTES)
        return FRAME_TOO_LONG;
    return in->size - from - HEAD_BYTES < frame->size ? FRAME_MISSING : FRAME_WHOLE;
}

/* Read an answer: the exit code, the document with its length, the text. */
bool parse_answer(const struct frame *frame, struct answer *answer)
{
    if (frame->size < HEAD_BYTES)
        return false;
    const char *document = (const char *)frame->payload + HEAD_BYTES;
    size_t size = get_number(frame->payload + 1), left = frame->size - HEAD_BYTES;
    if (size == 0 || size > left)
        return false;
    *answer = (struct answer){frame->payload[0], document, size, document + size, left - size};
    return true;
}
#endif
