// `$near: [3.14, 0.01]` in C, with nothing but its standard library: a line in, a line out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The number after a key, past brackets and quotes; 1 when there is one.
static int number(const char *line, const char *key, double *value, const char **rest) {
    const char *at = strstr(line, key);
    if (!at) return 0;
    at += strlen(key) + strspn(at + strlen(key), "[\" ");
    char *end;
    *value = strtod(at, &end);
    if (rest) *rest = end;
    return end != at;
}

// The host writes its requests compactly, `method` first and `id` last.
int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *last = NULL, *rest = NULL;
        for (const char *at = line; (at = strstr(at, "\"id\":")); at++) last = at;
        long id = last ? strtol(last + 5, NULL, 10) : 0;
        double to, tolerance, actual;
        if (strncmp(line, "{\"method\":\"near\"", 16) != 0) {
            printf("{\"id\":%ld,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n", id);
        } else if (!number(line, "\"expected\":[", &to, &rest) || *rest != ',' || !number(rest, ",", &tolerance, NULL)) {
            printf("{\"id\":%ld,\"error\":{\"code\":-32602,\"message\":\"a number and a tolerance are needed\"}}\n", id);
        } else if (!number(line, "\"actual\":", &actual, NULL)) {
            printf("{\"id\":%ld,\"result\":{\"pass\":false,\"message\":\"not a number\"}}\n", id);
        } else if (fabs(actual - to) <= tolerance) {
            printf("{\"id\":%ld,\"result\":true}\n", id);
        } else {
            printf("{\"id\":%ld,\"result\":{\"pass\":false,\"message\":\"too far away: %g\"}}\n", id, fabs(actual - to));
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
