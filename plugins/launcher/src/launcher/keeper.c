/* A call by the keeper: what is sent when, what its frames mean, and what is done where it is lost. */
#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"
#include "launcher.h"

#define ACCEPT_MS 250
#define ASK_MS 1000
#define HANG_MS 3000 /* 2 s after the first question that has no answer */
#define INPUT_MS 5000
#define SILENCE_MS 50
#define SLICE_MS 50
#define SPARE_MS 3000 /* after the deadline, by which a keeper has answered */
#define TEXT_BYTES 8192
#define SUMMARY_BYTES 242
#define DEFAULT_DEADLINE_MS 25000
#define MAX_DEADLINE_MS 86400000

#define LOST_TEXT "The process that makes the calls of this tool ended before it had answered. The tool may have done its work"

enum phase { HELLO_SENT, ACCEPTED, BEGUN };
enum end { NOT_YET, REFUSED, LOST, ANSWERED };

static struct {
    int socket;
    int signals;
    enum phase phase;
    bool is_repeatable;
    bool end_is_sent;
    bool is_signalled;
    size_t forwarded;
    int64_t quiet_ms; /* since the last frame, as far as this process was awake */
    int64_t next_ask_ms;
    int64_t deadline_ms;
} call = {.next_ask_ms = ASK_MS};

static struct buffer out, in;
static struct input input;
static struct answer answer;

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
static _Noreturn void answer_call(const struct answer *given)
{
    int64_t limit = call.deadline_ms > get_ms() + 1000 ? call.deadline_ms : get_ms() + 1000;
    signal(SIGPIPE, SIG_IGN);
    while (take_signal() != 0) /* what came before is what is answered */
        continue;
    bool is_taken = write_until(STDOUT_FILENO, given->document, given->document_size, limit, call.signals) &&
                    write_until(STDOUT_FILENO, "\n", 1, limit, call.signals);
    close(STDOUT_FILENO);
    size_t size = given->text_size < TEXT_BYTES ? given->text_size : TEXT_BYTES;
    write_until(STDERR_FILENO, given->text, size, limit, call.signals);
    exit(is_taken ? given->exit_code : 1);
}

static _Noreturn void answer_lost(const char *name)
{
    static const char document[] = "{\"success\": false, \"error\": \"" LOST_TEXT
                                   "; look whether it has before you call it again.\", \"error_code\": \"KEEPER_LOST\"}";
    static char text[SUMMARY_BYTES + 1];
    int code = choose_exit_code();
    snprintf(text, sizeof text, "%.64s: KEEPER_LOST: " LOST_TEXT ".\n", name);
    struct answer lost = {(uint8_t)code, document, sizeof document - 1, text, code == 0 ? 0 : strlen(text)};
    answer_call(&lost);
}

/* ---- what comes */

static void tell_refusal(const struct frame *frame)
{
    const char *debug = getenv("FERRULE_DEBUG");
    if (debug != NULL && debug[0] != '\0')
        dprintf(STDERR_FILENO, "The keeper refused the call: %.*s\n", (int)frame->size, (const char *)frame->payload);
}

static enum end take_frame(const struct frame *frame)
{
    bool is_accepted = call.phase != HELLO_SENT;
    if (frame->type == 'A' && !is_accepted) {
        call.phase = ACCEPTED;
    } else if (frame->type == 'R' && !is_accepted) {
        tell_refusal(frame);
        return REFUSED;
    } else if (frame->type == 'B' && call.phase == ACCEPTED && frame->size == 1 && (frame->payload[0] | 1) == '1') {
        call.phase = BEGUN;
        call.is_repeatable = frame->payload[0] == '1';
    } else if (frame->type == 'O' && is_accepted) {
        return parse_answer(frame, &answer) ? ANSWERED : LOST;
    } else if (frame->type != 'Q' || !is_accepted) {
        return LOST;
    }
    call.quiet_ms = 0;
    call.next_ask_ms = ASK_MS;
    return NOT_YET;
}

/* Take the frames that are whole; what is left of the bytes is moved to the beginning. */
static enum end take_frames(void)
{
    struct frame frame;
    size_t used = 0;
    for (;;) {
        enum found found = find_frame(&in, used, &frame);
        enum end end = found == FRAME_WHOLE ? take_frame(&frame) : found == FRAME_TOO_LONG ? LOST : NOT_YET;
        if (end != NOT_YET)
            return end;
        if (found == FRAME_MISSING)
            break;
        used += HEAD_BYTES + frame.size;
    }
    if (used > 0)
        memmove(in.data, in.data + used, in.size -= used);
    return NOT_YET;
}

static enum end receive(void)
{
    ssize_t got = recv(call.socket, in.data + in.size, sizeof in.data - in.size, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? NOT_YET : LOST;
    in.size += (size_t)got;
    return take_frames();
}

/* ---- what is sent */

static void add_input(void)
{
    size_t left = input.size - call.forwarded;
    if (call.phase != ACCEPTED || out.size > 0)
        return;
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

/* Tell the keeper of a signal. It stays in its file until the keeper has taken the call; a second one ends the process. */
static void pass_signal(void)
{
    char text[12];
    if (call.is_signalled) {
        release_signals();
    } else {
        snprintf(text, sizeof text, "%d", take_signal());
        call.is_signalled = add_frame(&out, 'S', text, strlen(text));
    }
}

/* ---- waiting */

/* Count what was waited for. Where this process itself got no turn, the keeper need not have had one either. */
static bool hangs(int64_t waited)
{
    call.quiet_ms += waited < SLICE_MS ? waited : SLICE_MS;
    if (call.phase == HELLO_SENT)
        return call.quiet_ms >= ACCEPT_MS;
    if (call.quiet_ms >= call.next_ask_ms && add_frame(&out, 'P', NULL, 0))
        call.next_ask_ms += ASK_MS;
    return call.quiet_ms >= HANG_MS || get_ms() >= call.deadline_ms + SPARE_MS;
}

static enum end wait_and_work(void)
{
    bool reads = call.phase == ACCEPTED && !input.ended && !input.failed;
    add_input();
    struct pollfd waited[3] = {
        {.fd = call.socket, .events = (short)(POLLIN | (out.size > 0 ? POLLOUT : 0))},
        {.fd = call.phase == HELLO_SENT ? -1 : call.signals, .events = POLLIN},
        {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN},
    };
    int64_t before = get_ms();
    if (poll(waited, 3, SLICE_MS) > 0) {
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
    return hangs(get_ms() - before) || input.failed ? LOST : NOT_YET;
}

/* ---- where the keeper is lost */

/* Read stdin on by the rules of a call: to its end, for 5 s, or until a whole object is followed by silence. */
static void finish_input(void)
{
    int64_t limit = get_ms() + INPUT_MS, left;
    while (!input.ended && !input.failed && (left = limit - get_ms()) > 0) {
        bool whole = is_whole(&input);
        struct pollfd waited = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&waited, 1, (int)(whole && left > SILENCE_MS ? SILENCE_MS : left));
        if (ready > 0)
            read_some(&input);
        else if (ready == 0 && whole)
            return;
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
    release_signals();
    if (input.size > 0 && !input.failed) {
        finish_input();
        if (!put_on_stdin(&input))
            answer_lost(name);
    }
    shorten_deadline(began);
}

static bool is_possible(void)
{
    return fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0 && !isatty(STDIN_FILENO);
}

void call_by_keeper(const struct link *link)
{
    const char *installation = get_value(link, "keeper");
    int64_t began = get_ms();
    if (installation == NULL || !is_possible())
        return;
    if (fcntl(STDERR_FILENO, F_GETFD) < 0 && open("/dev/null", O_WRONLY | O_CLOEXEC) < 0)
        return; /* no file of the launcher's own may be stderr */
    if (!add_hello(&out, get_value(link, "orders")) || (call.socket = connect_to_keeper(installation)) < 0)
        return;
    call.deadline_ms = began + read_deadline_ms();
    call.signals = catch_signals();
    enum end end;
    while ((end = wait_and_work()) == NOT_YET)
        continue;
    if (end == ANSWERED)
        answer_call(&answer);
    go_cold(get_value(link, "name"), began);
}
#endif
