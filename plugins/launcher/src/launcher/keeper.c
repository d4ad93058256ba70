/* A call by the keeper: what is sent when, what its frames mean, and what is done where it is lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"
#include "launcher.h"

#define ACCEPT_MS 250
#define ASK_MS 1000
#define HANG_MS 2000
#define INPUT_MS 5000
#define SILENCE_MS 50
#define SLICE_MS 50
#define SPARE_MS 3000 /* after the deadline, by which a keeper has answered */
#define TEXT_BYTES 8192
#define SUMMARY_BYTES 242
#define PIPE_BYTES 4096 /* a pipe that polls as writable takes this much without blocking */
#define DEFAULT_DEADLINE_MS 25000
#define MAX_DEADLINE_MS 86400000

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum phase { HELLO_SENT, ACCEPTED, BEGUN };
enum end { NOT_YET, REFUSED, LOST, ANSWERED };

static struct {
    int socket;
    enum phase phase;
    bool is_repeatable;
    bool end_is_sent;
    bool is_signalled;
    size_t forwarded;
    int64_t quiet_ms;      /* since the last frame, as far as this process was awake */
    int64_t unanswered_ms; /* since the first P that has no answer */
    int64_t next_ask_ms;
    bool is_asked;
    int64_t deadline_ms;
} call;

static struct buffer out, in;
static struct input input;
static struct answer answer;

static int64_t get_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t read_deadline_ms(void)
{
    const char *text = getenv("FERRULE_DEADLINE");
    char *end = NULL;
    double seconds = text == NULL ? 0 : strtod(text, &end);
    while (end != NULL && (*end == ' ' || *end == '\t' || *end == '\n'))
        end++;
    if (end == NULL || end == text || *end != '\0' || !(seconds > 0 && seconds < 1e9))
        return DEFAULT_DEADLINE_MS;
    return seconds * 1000 < MAX_DEADLINE_MS ? (int64_t)(seconds * 1000) : MAX_DEADLINE_MS;
}

/* ---- the answer */

/* Write as a call in Python does: by the deadline, and no more once a signal has come. */
static bool write_in_time(int file, const char *data, size_t size, int64_t limit)
{
    while (size > 0) {
        struct pollfd waited[2] = {{.fd = file, .events = POLLOUT}, {.fd = get_signal_file(), .events = POLLIN}};
        int64_t left = limit - get_ms();
        int ready = left > 0 ? poll(waited, 2, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || waited[0].revents == 0)
            return false;
        ssize_t written = write(file, data, size < PIPE_BYTES ? size : PIPE_BYTES);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static _Noreturn void answer_call(const struct answer *given)
{
    int64_t limit = call.deadline_ms > get_ms() + 1000 ? call.deadline_ms : get_ms() + 1000;
    signal(SIGPIPE, SIG_IGN);
    while (take_signal() != 0) /* what came before is what is answered */
        continue;
    bool is_taken = write_in_time(STDOUT_FILENO, given->document, given->document_size, limit) &&
                    write_in_time(STDOUT_FILENO, "\n", 1, limit);
    close(STDOUT_FILENO);
    size_t size = given->text_size < TEXT_BYTES ? given->text_size : TEXT_BYTES;
    write_in_time(STDERR_FILENO, given->text, size, limit);
    exit(is_taken ? given->exit_code : 1);
}

static _Noreturn void answer_lost(const char *name)
{
    static const char document[] =
        "{\"success\": false, \"error\": \"The process that makes the calls of this tool ended before it had answered. "
        "The tool may have done its work; look whether it has before you call it again.\", "
        "\"error_code\": \"KEEPER_LOST\"}";
    static char text[SUMMARY_BYTES + 1];
    int code = choose_exit_code();
    snprintf(text, sizeof text,
             "%.64s: KEEPER_LOST: The process that makes the calls of this tool ended before it had answered. The tool "
             "may have done its work.\n",
             name);
    struct answer lost = {(uint8_t)code, document, sizeof document - 1, text, code == 0 ? 0 : strlen(text)};
    answer_call(&lost);
}

/* ---- what comes */

static void tell_refusal(const uint8_t *why, size_t size)
{
    const char *debug = getenv("FERRULE_DEBUG");
    if (debug == NULL || debug[0] == '\0')
        return;
    write_all(STDERR_FILENO, "The keeper refused the call: ", 29);
    write_all(STDERR_FILENO, (const char *)why, size < TEXT_BYTES ? size : TEXT_BYTES);
    write_all(STDERR_FILENO, "\n", 1);
}

static enum end take_frame(uint8_t type, const uint8_t *payload, size_t size)
{
    bool is_accepted = call.phase != HELLO_SENT;
    if (type == 'A' && !is_accepted) {
        call.phase = ACCEPTED;
    } else if (type == 'R' && !is_accepted) {
        tell_refusal(payload, size);
        return REFUSED;
    } else if (type == 'B' && call.phase == ACCEPTED && size == 1 && (payload[0] == '0' || payload[0] == '1')) {
        call.phase = BEGUN;
        call.is_repeatable = payload[0] == '1';
    } else if (type == 'O' && is_accepted) {
        return parse_answer(payload, size, &answer) ? ANSWERED : LOST;
    } else if (type != 'Q' || !is_accepted) {
        return LOST;
    }
    call.quiet_ms = call.unanswered_ms = call.next_ask_ms = 0;
    call.is_asked = false;
    return NOT_YET;
}

static enum end receive(void)
{
    ssize_t got = recv(call.socket, in.data + in.size, sizeof in.data - in.size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return NOT_YET;
    in.size += got > 0 ? (size_t)got : 0;
    enum end end = NOT_YET;
    enum frame found = FRAME_MISSING;
    size_t used = 0, size = 0;
    const uint8_t *payload = NULL;
    uint8_t type = 0;
    while (end == NOT_YET && (found = find_frame(&in, used, &type, &payload, &size)) == FRAME_WHOLE) {
        used += HEAD_BYTES + size;
        end = take_frame(type, payload, size);
    }
    if (end == NOT_YET)
        drop_beginning(&in, used);
    if (end == NOT_YET && (got <= 0 || found == FRAME_TOO_LONG))
        end = LOST;
    return end;
}

/* ---- what is sent */

static void add_input(void)
{
    if (call.phase != ACCEPTED || out.size > 0)
        return;
    size_t left = input.size - call.forwarded;
    if (left > 0) {
        size_t size = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        add_frame(&out, 'D', input.data + call.forwarded, size);
        call.forwarded += size;
    } else if (input.ended && !call.end_is_sent) {
        call.end_is_sent = add_frame(&out, 'E', NULL, 0);
    }
}

static void send_some(void)
{
    ssize_t sent = send(call.socket, out.data + out.sent, out.size - out.sent, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    /* A keeper that reads no more may have answered: that is seen by what comes. */
    out.sent = sent < 0 ? out.size : out.sent + (size_t)sent;
    if (out.sent == out.size)
        out.sent = out.size = 0;
}

static void ask_whether_there(void)
{
    if (call.phase == HELLO_SENT || call.quiet_ms < ASK_MS + call.next_ask_ms)
        return;
    call.next_ask_ms += ASK_MS;
    call.is_asked = true;
    add_frame(&out, 'P', NULL, 0);
}

/* Tell the keeper of a signal. A second one, or one that comes before it has taken the call, ends this process. */
static void pass_signal(void)
{
    int number = take_signal();
    char text[4];
    if (number == 0)
        return;
    if (call.phase == HELLO_SENT || call.is_signalled)
        die_by(number);
    call.is_signalled = true;
    snprintf(text, sizeof text, "%d", number % 100);
    add_frame(&out, 'S', text, strlen(text));
}

/* ---- waiting */

static bool hangs(void)
{
    if (call.phase == HELLO_SENT)
        return call.quiet_ms >= ACCEPT_MS;
    return call.unanswered_ms >= HANG_MS || get_ms() >= call.deadline_ms + SPARE_MS;
}

/* Count what was waited for. Where this process itself got no turn, the keeper need not have had one either. */
static void count_wait(int64_t waited)
{
    int64_t counted = waited < SLICE_MS ? waited : SLICE_MS;
    call.quiet_ms += counted;
    if (call.is_asked)
        call.unanswered_ms += counted;
}

static enum end wait_and_work(void)
{
    bool reads = call.phase == ACCEPTED && !input.ended && !input.failed;
    add_input();
    struct pollfd waited[3] = {
        {.fd = call.socket, .events = (short)(POLLIN | (out.size > 0 ? POLLOUT : 0))},
        {.fd = get_signal_file(), .events = POLLIN},
        {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN},
    };
    int64_t before = get_ms();
    int ready = poll(waited, 3, SLICE_MS);
    count_wait(get_ms() - before);
    if (ready > 0) {
        if (waited[1].revents != 0)
            pass_signal();
        if (waited[0].revents & POLLOUT)
            send_some();
        enum end end = waited[0].revents & (POLLIN | POLLHUP | POLLERR) ? receive() : NOT_YET;
        if (end != NOT_YET)
            return end;
        if (waited[2].revents != 0 && call.phase == ACCEPTED)
            read_some(&input);
    }
    ask_whether_there();
    return input.failed || hangs() ? LOST : NOT_YET;
}

/* ---- where the keeper is lost */

/* Read stdin on by the rules of a call: to its end, for 5 s, or until a whole object is followed by silence. */
static void finish_input(void)
{
    int64_t limit = get_ms() + INPUT_MS;
    while (!input.ended && !input.failed) {
        bool whole = is_whole(&input);
        int64_t left = limit - get_ms();
        struct pollfd waited = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = left > 0 ? poll(&waited, 1, (int)(whole && left > SILENCE_MS ? SILENCE_MS : left)) : 0;
        if (ready > 0)
            read_some(&input);
        else if (ready == 0 && (whole || left <= 0))
            return;
        int came = take_signal();
        if (came != 0)
            die_by(came);
    }
}

/* A cold start has what is left of the deadline, so that the caller waits no longer than it would have. */
static void shorten_deadline(int64_t began)
{
    char text[32];
    int64_t left = call.deadline_ms - get_ms();
    if (get_ms() - began < ASK_MS / 2)
        return;
    left = left > 1000 ? left : 1000;
    snprintf(text, sizeof text, "%lld.%03lld", (long long)(left / 1000), (long long)(left % 1000));
    setenv("FERRULE_DEADLINE", text, 1);
}

static void go_cold(const char *name, int64_t began)
{
    close(call.socket);
    if (call.is_signalled || (call.phase == BEGUN && !call.is_repeatable))
        answer_lost(name);
    if (input.size > 0 && !input.failed) {
        finish_input();
        if (!put_on_stdin(&input))
            answer_lost(name);
    }
    release_signals();
    shorten_deadline(began);
}

static bool is_possible(void)
{
    struct stat facts;
    return fstat(STDIN_FILENO, &facts) == 0 && fstat(STDOUT_FILENO, &facts) == 0 && !isatty(STDIN_FILENO);
}

void call_by_keeper(const struct link *link)
{
    static char path[sizeof((struct sockaddr_un *)0)->sun_path];
    const char *installation = get_value(link, "keeper");
    if (installation == NULL || !is_possible() || !find_socket(installation, path, sizeof path))
        return;
    int64_t began = get_ms();
    if (!add_hello(&out, get_value(link, "orders")) || (call.socket = connect_to_keeper(path)) < 0)
        return;
    call.deadline_ms = began + read_deadline_ms();
    catch_signals();
    enum end end;
    while ((end = wait_and_work()) == NOT_YET)
        continue;
    if (end == ANSWERED)
        answer_call(&answer);
    go_cold(get_value(link, "name"), began);
}
