// `${{name}}: [3, 0.5]`: a number is at most 0.5 away from 3.

#include "matcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef mcptest_extension_types_failure_t failure_t;

// JSON text as a string with an end. Every text that comes in belongs to this function's callers, and is freed here.
static char *take(matcher_string_t *text) {
  char *copy = malloc(text->len + 1);
  if (copy == NULL) abort();
  memcpy(copy, text->ptr, text->len);
  copy[text->len] = '\0';
  matcher_string_free(text);
  return copy;
}

static const char *skip_spaces(const char *at) {
  return at + strspn(at, " \t\r\n");
}

// Reads a JSON number and moves behind it. The text is valid JSON, so its first character decides.
static bool number(const char **at, double *value) {
  const char *start = skip_spaces(*at);
  if (*start == '\0' || strchr("-0123456789", *start) == NULL) return false;
  char *end;
  *value = strtod(start, &end);
  *at = skip_spaces(end);
  return true;
}

static bool punctuation(const char **at, char wanted) {
  *at = skip_spaces(*at);
  if (**at != wanted) return false;
  (*at)++;
  return true;
}

static bool prepare(const char *expected, double *to, double *tolerance) {
  return punctuation(&expected, '[') && number(&expected, to) && punctuation(&expected, ',') &&
         number(&expected, tolerance) && punctuation(&expected, ']') && *tolerance >= 0;
}

// Whether the call is for this matcher with an argument that it can use; the failure otherwise.
static bool known(matcher_string_t *matcher, matcher_string_t *expected, double *to, double *tolerance, failure_t *err) {
  char *name = take(matcher), *argument = take(expected);
  bool ok = false;
  if (strcmp(name, "{{name}}") != 0) {
    err->tag = MCPTEST_EXTENSION_TYPES_FAILURE_UNKNOWN_MATCHER;
    matcher_string_dup(&err->val.unknown_matcher, name);
  } else if (!prepare(argument, to, tolerance)) {
    err->tag = MCPTEST_EXTENSION_TYPES_FAILURE_INVALID_ARGUMENT;
    matcher_string_dup(&err->val.invalid_argument, "expected `[number, tolerance]`");
  } else {
    ok = true;
  }
  free(name);
  free(argument);
  return ok;
}

void exports_mcptest_extension_describing_describe(mcptest_extension_types_manifest_t *ret) {
  memset(ret, 0, sizeof *ret);
  matcher_string_dup(&ret->id, "{{name}}");
  matcher_string_dup(&ret->version, "0.1.0");
  ret->matchers.ptr = calloc(1, sizeof *ret->matchers.ptr);
  if (ret->matchers.ptr == NULL) abort();
  ret->matchers.len = 1;
  matcher_string_dup(&ret->matchers.ptr[0].name, "{{name}}");
  matcher_string_dup(&ret->matchers.ptr[0].summary, "a number is near another");
}

bool exports_mcptest_extension_matching_check(matcher_string_t *matcher, matcher_string_t *expected, failure_t *err) {
  double to, tolerance;
  return known(matcher, expected, &to, &tolerance, err);
}

bool exports_mcptest_extension_matching_evaluate(mcptest_extension_types_match_request_t *request,
                                                 mcptest_extension_types_verdict_t *ret, failure_t *err) {
  double to, tolerance, value;
  matcher_string_free(&request->path);
  matcher_string_free(&request->step);
  char *actual = take(&request->actual);
  bool ok = known(&request->matcher, &request->expected, &to, &tolerance, err);
  if (ok) {
    const char *at = actual;
    const char *message = !number(&at, &value)                ? "expected a number"
                          : !(fabs(value - to) <= tolerance) ? "the number is too far away"
                                                             : NULL;
    memset(ret, 0, sizeof *ret);
    if (message != NULL) {
      ret->tag = MCPTEST_EXTENSION_TYPES_VERDICT_FAIL;
      matcher_string_dup(&ret->val.fail.message, message);
    }
  }
  free(actual);
  return ok;
}
