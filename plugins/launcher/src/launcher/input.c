/* stdin, which is read once: for the keeper as its bytes come, and for a cold start where the keeper is lost. */
#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "keeper.h"
#include "launcher.h"

/* Read what is there. Past the limit it is thrown away: a client that still writes must not meet a broken pipe. */
void read_some(struct input *input)
{
    static uint8_t chunk[CHUNK_BYTES];
    ssize_t got = read(STDIN_FILENO, chunk, sizeof chunk);
    if (got > 0) {
        size_t room = sizeof input->data - input->size;
        size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(input->data + input->size, chunk, kept);
        input->size += kept;
    } else if (got == 0 || errno == EAGAIN) {
        input->ended = true;
    } else if (errno != EINTR) {
        input->failed = true;
    }
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Does it look like one object that has ended? Python says whether it is one. */
bool is_whole(const struct input *input)
{
    size_t depth = 0, at = 0;
    bool is_text = false;
    while (at < input->size && is_blank(input->data[at]))
        at++;
    for (; at < input->size; at++) {
        uint8_t byte = input->data[at];
        if (is_text) {
            if (byte == '\\')
                at++;
            else if (byte == '"')
                is_text = false;
        } else if (byte == '"') {
            is_text = true;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if ((byte == '}' || byte == ']') && depth > 0 && --depth == 0) {
            break;
        } else if (depth == 0) {
            return false;
        }
    }
    if (at >= input->size)
        return false;
    for (at++; at < input->size; at++)
        if (!is_blank(input->data[at]))
            return false;
    return true;
}

/* Make what was read the stdin of this process. */
bool put_on_stdin(const struct input *input)
{
    int file = memfd_create("stdin", MFD_CLOEXEC);
    return file >= 0 && write_all(file, (const char *)input->data, input->size) && lseek(file, 0, SEEK_SET) == 0 &&
           dup2(file, STDIN_FILENO) == STDIN_FILENO;
}
#endif
