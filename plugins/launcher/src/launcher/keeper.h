/* The frames between launcher and keeper: 1 byte of type, 4 of length (little endian), the payload. */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL "1"
#define HEAD_BYTES 5
#define FRAME_BYTES (1 << 20)
#define CHUNK_BYTES 65536
#define INPUT_BYTES (1 << 20)

/* What waits to be sent, or has come: a part of static memory, from its beginning on. */
struct buffer {
    size_t size;
    size_t sent;
    uint8_t data[FRAME_BYTES + HEAD_BYTES + CHUNK_BYTES];
};

struct answer {
    uint8_t exit_code;
    const char *document;
    size_t document_size;
    const char *text;
    size_t text_size;
};

enum frame { FRAME_MISSING, FRAME_WHOLE, FRAME_TOO_LONG };

/* frames.c */
bool add_frame(struct buffer *out, char type, const void *payload, size_t size);
bool add_hello(struct buffer *out, const char *orders);
enum frame find_frame(const struct buffer *in, size_t from, uint8_t *type, const uint8_t **payload, size_t *size);
void drop_beginning(struct buffer *in, size_t size);
bool parse_answer(const uint8_t *payload, size_t size, struct answer *answer);

/* input.c: what was read of stdin, and is kept for a cold start. */
struct input {
    size_t size;
    bool ended;
    bool failed;
    uint8_t data[INPUT_BYTES + 1];
};

void read_some(struct input *input);
bool is_whole(const struct input *input);
bool put_on_stdin(const struct input *input);

/* signals.c */
void catch_signals(void);
void release_signals(void);
int get_signal_file(void);
int take_signal(void);
_Noreturn void die_by(int number);

/* connection.c */
int connect_to_keeper(const char *path);

#endif
