// `$near: [3, 0.5]`: a number is at most 0.5 away from 3.

const isNumber = (value) => typeof value === "number";

function prepare(expected) {
  const [to, tolerance, ...more] = Array.isArray(expected) ? expected : [];
  if (!isNumber(to) || !isNumber(tolerance) || tolerance < 0 || more.length > 0) {
    throw { tag: "invalid-argument", val: "expected `[number, tolerance]`" };
  }
  return { to, tolerance };
}

function known(matcher) {
  if (matcher !== "near") {
    throw { tag: "unknown-matcher", val: matcher };
  }
}

const fail = (message) => ({ tag: "fail", val: { message } });

export const describing = {
  describe: () => ({
    id: "near",
    version: "0.1.0",
    matchers: [{ name: "near", summary: "a number is near another" }],
    capabilities: [],
  }),
};

export const matching = {
  check(matcher, expected) {
    known(matcher);
    prepare(JSON.parse(expected));
  },

  evaluate(request) {
    known(request.matcher);
    const { to, tolerance } = prepare(JSON.parse(request.expected));
    const actual = JSON.parse(request.actual);
    if (!isNumber(actual)) {
      return fail("expected a number");
    }
    return Math.abs(actual - to) <= tolerance ? { tag: "pass" } : fail("the number is too far away");
  },
};
