/* What the files of the launcher share. Everything stands in static memory: nothing is allocated before a cold start. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define FORM "1" /* of the sections, as the link says it and as --form prints it */
#define LINK_BYTES (1 << 20)
#define LINK_FIELDS 1024
#define PATH_BYTES 4096

struct field {
    const char *name;
    const char *value;
};

/* A link file, read: its sections in their order, and what fstat says of it. */
struct link {
    size_t fields;
    struct field field[LINK_FIELDS];
    struct stat facts;
};

/* link.c */
bool parse_link(struct link *link, char *text, size_t size);
bool read_link(struct link *link, const char *path);
const char *find_value(const struct link *link, const char *name, size_t *from);
const char *get_value(const struct link *link, const char *name);

/* schema.c */
bool is_python_there(const struct link *link);
bool is_fresh(const struct link *link);
bool is_offered(const struct link *link, bool *known);

/* keeper.c: comes back where the cold way is to be taken, with stdin as Python is to read it. */
void call_by_keeper(const struct link *link);

/* output.c */
int64_t get_ms(void);
bool write_until(int file, const char *data, size_t size, int64_t limit, int other);
bool write_all(int file, const char *data, size_t size);
int choose_exit_code(void);

#endif
