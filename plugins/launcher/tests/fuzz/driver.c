/* One long-lived process that gives the launcher's readers what comes on stdin: `l` a link, `k` bytes of a keeper, `a` an
 * answer, `w` input; then 4 bytes of length, and the bytes. For each it writes a byte back: what came of it. */
#include "../../src/launcher/keeper.c"

static struct link parsed;
static volatile size_t touched; /* of what a reader has let through */

/* How a link is read, value by value: an invalid one must not have been touched out of its bounds. */
static int try_link(char *data, size_t size)
{
    size_t from = 0;
    bool known;
    if (!parse_link(&parsed, data, size))
        return 0;
    for (size_t index = 0; index < parsed.fields; index++)
        touched += strlen(parsed.field[index].name) + strlen(parsed.field[index].value);
    while (find_value(&parsed, "watched", &from) != NULL)
        continue;
    return 1 + is_python_there(&parsed) + is_fresh(&parsed) + is_offered(&parsed, &known);
}

/* The bytes come in pieces, as they do from a socket; the first byte says how large these are. */
static int try_frames(const uint8_t *data, size_t size)
{
    enum end end = NOT_YET;
    size_t piece = size > 0 ? (size_t)data[0] * 7 + 1 : 1;
    in.size = out.size = out.sent = 0;
    call.phase = HELLO_SENT;
    call.is_repeatable = false;
    for (size_t at = 1; at < size && end == NOT_YET; at += piece) {
        size_t some = size - at < piece ? size - at : piece;
        if (some > sizeof in.data - in.size)
            return 7; /* more than may be left unread: a frame is no longer than the memory for it */
        memcpy(in.data + in.size, data + at, some);
        in.size += some;
        end = take_frames();
    }
    for (size_t index = 0; end == ANSWERED && index < answer.document_size + answer.text_size; index++)
        touched += (unsigned char)answer.document[index];
    return (int)end;
}

static int try_input(const uint8_t *data, size_t size)
{
    input.size = size < sizeof input.data ? size : sizeof input.data;
    memcpy(input.data, data, input.size);
    return is_whole(&input);
}

static bool read_exactly(void *to, size_t size)
{
    return fread(to, 1, size, stdin) == size;
}

int main(void)
{
    uint8_t head[5];
    while (read_exactly(head, sizeof head)) {
        size_t size = (size_t)head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16;
        uint8_t *data = malloc(size + 1); /* of its own, so that what is read behind its end is noticed */
        if (data == NULL || !read_exactly(data, size))
            return 2;
        if (head[0] == 'l')
            putchar(try_link((char *)data, size));
        else
            putchar(head[0] == 'w' ? try_input(data, size) : try_frames(data, size));
        fflush(stdout);
        free(data);
    }
    return 0;
}
