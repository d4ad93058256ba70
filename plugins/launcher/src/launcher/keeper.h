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

struct frame {
    char type;
    const uint8_t *payload;
    size_t size;
};

enum found { FRAME_MISSING, FRAME_WHOLE, FRAME_TOO_LONG };

/* frames.c */
bool add_frame(struct buffer *out, char type, const void *payload, size_t size);
bool add_hello(struct buffer *out, const char *orders);
enum found find_frame(const struct buffer *in, size_t from, struct frame *frame);
bool parse_answer(const struct frame *frame, struct answer *answer);

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
int catch_signals(void);
void release_signals(void);
int take_signal(void);

/* place.c */
int connect_to_keeper(const char *installation);

#endif
