/* The program behind the first line of a linked executable: it prints the schema, has a keeper make the call, or
 * starts Python. `docs/reference/executable-contract.md` says what the file has, and why. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

#define FEW_ARGUMENTS 32

static struct link linked;

static _Noreturn void say_damaged(const char *path)
{
    static const char document[] = "{\"success\": false, \"error\": \"This executable is damaged, or a later ferrule "
                                   "wrote it. Link the tool again: ferrule link TOOL.\", "
                                   "\"error_code\": \"TOOL_UNAVAILABLE\"}\n";
    write_all(STDOUT_FILENO, document, sizeof document - 1);
    fprintf(stderr, "%s is damaged, or a later ferrule wrote it. Link the tool again: ferrule link TOOL.\n", path);
    exit(1);
}

static void print_line(int file, const char *text)
{
    if (text != NULL && write_all(file, text, strlen(text)))
        write_all(file, "\n", 1);
}

/* What answers where there is no Python any more. The client has to be able to write what it wants to. */
static _Noreturn void say_gone(const struct link *link, bool is_call)
{
    char thrown_away[4096];
    ssize_t got;
    while (is_call && ((got = read(STDIN_FILENO, thrown_away, sizeof thrown_away)) > 0 || (got < 0 && errno == EINTR)))
        continue;
    print_line(STDOUT_FILENO, get_value(link, "gone"));
    print_line(STDERR_FILENO, get_value(link, "gone-text"));
    exit(is_call ? choose_exit_code() : 1);
}

/* Start Python with the orders, the doubt and the arguments, as a link in shell does. */
static _Noreturn void start_python(const struct link *link, const char *doubt, int count, char **arguments)
{
    const char *few[FEW_ARGUMENTS], **command = few, *option, *python = get_value(link, "python");
    size_t room = (size_t)count + link->fields + 8, used = 0, from = 0;
    if (room > FEW_ARGUMENTS && (command = calloc(room, sizeof *command)) == NULL)
        say_gone(link, count == 0);
    command[used++] = python;
    while ((option = find_value(link, "option", &from)) != NULL)
        command[used++] = option;
    command[used++] = "-c";
    command[used++] = get_value(link, "code");
    command[used++] = get_value(link, "orders");
    command[used++] = doubt;
    for (int index = 0; index < count; index++)
        command[used++] = arguments[index];
    command[used] = NULL;
    execv(python, (char *const *)(uintptr_t)command);
    say_gone(link, count == 0);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/* Print the schema and end; what comes back is why Python has to answer. */
static const char *show_schema(const struct link *link, const char *path)
{
    bool known;
    const char *schema = get_value(link, "schema");
    if (is_set("FERRULE_DISABLE") || is_set("FERRULE_CONFIG"))
        return "";
    if (schema == NULL || !is_fresh(link))
        return path;
    if (!is_offered(link, &known))
        return "marks";
    size_t size = strlen(schema);
    /* The value's end is a byte of this process's own, where the line's end was. */
    ((char *)(uintptr_t)schema)[size] = '\n';
    exit(write_all(STDOUT_FILENO, schema, size + 1) ? 0 : 1);
}

static bool has_all(const struct link *link)
{
    static const char *const wanted[] = {"tool", "name", "python", "code", "orders", "gone", "gone-text", NULL};
    for (const char *const *one = wanted; *one != NULL; one++)
        if (get_value(link, *one) == NULL)
            return false;
    return true;
}

int main(int count, char **words)
{
    const char *doubt = "";
    if (count == 2 && strcmp(words[1], "--form") == 0)
        return puts("ferrule-launcher " FORM) < 0;
    if (count < 2) {
        fputs("The first line of executables that `ferrule link` writes names this program.\n", stderr);
        return 2;
    }
    if (!read_link(&linked, words[1]) || !has_all(&linked))
        say_damaged(words[1]);
    if (count == 3 && strcmp(words[2], "--schema") == 0)
        doubt = show_schema(&linked, words[1]);
    if (!is_python_there(&linked))
        say_gone(&linked, count == 2);
#ifdef __linux__
    if (count == 2)
        call_by_keeper(&linked);
#endif
    start_python(&linked, doubt, count - 2, words + 2);
}
