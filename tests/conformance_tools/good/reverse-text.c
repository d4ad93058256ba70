/* reverse-text-tool: turns a text around, in C on its library alone. A small parser reads the arguments, and a deep
 * nesting is refused before it can fill the stack. Arguments that it does not know are left alone; a failure is one
 * line on stderr and exit code 1, as the client's own tools have it. */

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 64, MAX_INPUT_BYTES = 1 << 20, MAX_TEXT_BYTES = 10000 };

static const char SCHEMA[] =
    "{\"name\":\"reverse_text\",\"description\":\"Turns a text around, byte for byte. Use it for riddles.\","
    "\"parameters\":{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\",\"description\":\"The text, of ASCII\",\"maxLength\":10000},"
    "\"times\":{\"type\":\"integer\",\"description\":\"How often it is turned\",\"minimum\":1,\"maximum\":9}},"
    "\"required\":[\"text\"]}}\n";

static const char *at, *end;
static char text[MAX_TEXT_BYTES + 1];
static bool has_text, has_times;
static double times;

static void refuse(const char *why)
{
    fprintf(stderr, "reverse_text: %s\n", why);
    exit(1);
}

static void skip_space(void)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
}

static void expect(char wanted)
{
    skip_space();
    if (at == end || *at != wanted)
        refuse("stdin is not JSON");
    at++;
}

/* Reads a string. into may be NULL. Escapes of characters past ASCII are refused, and so are bytes past ASCII. */
static void read_string(char *into, size_t room)
{
    size_t length = 0;
    expect('"');
    for (;;) {
        if (at == end || (unsigned char)*at < 0x20)
            refuse("stdin is not JSON");
        if ((unsigned char)*at >= 0x80)
            refuse("stdin has characters past ASCII");
        char one = *at++;
        if (one == '"')
            break;
        if (one == '\\') {
            static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
            const char *found = at < end && *at ? strchr(names, *at) : NULL;
            if (!found)
                refuse("stdin has an escape that is not known here");
            one = values[found - names];
            at++;
        }
        if (into && length >= room)
            refuse("text is too long");
        if (into)
            into[length] = one;
        length++;
    }
    if (into)
        into[length] = '\0';
}

static void skip_value(int level);

static void skip_items(int level, char closing)
{
    at++;
    skip_space();
    if (at < end && *at == closing) {
        at++;
        return;
    }
    for (;;) {
        if (closing == '}') {
            skip_space();
            read_string(NULL, 0);
            expect(':');
        }
        skip_value(level + 1);
        skip_space();
        if (at < end && *at == ',') {
            at++;
            continue;
        }
        expect(closing);
        return;
    }
}

static bool take_word(const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - at) < length || memcmp(at, word, length))
        return false;
    at += length;
    return true;
}

static double read_number(void)
{
    char *after;
    double value = strtod(at, &after);
    if (after == at || after > end || !(isdigit((unsigned char)*at) || *at == '-'))
        refuse("stdin is not JSON, or an argument has the wrong type");
    at = after;
    return value;
}

static void skip_value(int level)
{
    if (level > MAX_LEVELS)
        refuse("stdin is nested too deep");
    skip_space();
    if (at == end)
        refuse("stdin is not JSON");
    if (*at == '{')
        skip_items(level, '}');
    else if (*at == '[')
        skip_items(level, ']');
    else if (*at == '"')
        read_string(NULL, 0);
    else if (!take_word("true") && !take_word("false") && !take_word("null"))
        read_number();
}

static void read_argument(void)
{
    char name[64];
    skip_space();
    const char *before = at;
    read_string(NULL, 0);
    size_t length = (size_t)(at - before);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), before);
    expect(':');
    skip_space();
    if (!strcmp(name, "\"text\"")) {
        read_string(text, MAX_TEXT_BYTES);
        has_text = true;
    } else if (!strcmp(name, "\"times\"") && !take_word("null")) {
        times = read_number();
        has_times = times != 0;
    } else if (at < end && strcmp(name, "\"times\"")) {
        skip_value(1);
    }
}

static void read_arguments(void)
{
    expect('{');
    skip_space();
    if (at < end && *at == '}') {
        at++;
    } else {
        for (;;) {
            read_argument();
            skip_space();
            if (at == end || *at != ',')
                break;
            at++;
        }
        expect('}');
    }
    skip_space();
    if (at != end)
        refuse("something follows the arguments");
}

static void print_reversed(bool turned)
{
    size_t length = strlen(text);
    fputs("{\"text\": \"", stdout);
    for (size_t i = 0; i < length; i++) {
        unsigned char one = (unsigned char)text[turned ? length - 1 - i : i];
        if (one < 0x20 || one == '"' || one == '\\')
            printf("\\u%04x", one);
        else
            putchar(one);
    }
    puts("\"}");
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count == 2 && !strcmp(words[1], "--schema")) {
        fputs(SCHEMA, stdout);
        return fflush(stdout) ? 1 : 0;
    }
    static char input[MAX_INPUT_BYTES + 2];
    size_t length = fread(input, 1, MAX_INPUT_BYTES + 1, stdin);
    if (length > MAX_INPUT_BYTES) {
        static char rest[65536];
        while (fread(rest, 1, sizeof rest, stdin) > 0)
            continue;
        refuse("stdin has more than 1 MiB");
    }
    at = input;
    end = input + length;
    read_arguments();
    if (!has_text)
        refuse("text is missing");
    if (has_times && (times < 1 || times > 9 || times != (int)times))
        refuse("times is not a whole number from 1 to 9");
    print_reversed(!has_times || (int)times % 2);
    if (fflush(stdout)) {
        fputs("reverse_text: stdout takes no answer\n", stderr);
        return 1;
    }
    return 0;
}
