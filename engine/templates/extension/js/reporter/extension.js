// One line per test, and the count at the end.

let tests = 0;

export const describing = {
  describe: () => ({ id: "{{name}}", version: "0.1.0", matchers: [], capabilities: [] }),
};

export const reporting = {
  observe(text) {
    const { type, data } = JSON.parse(text);
    if (type !== "test-finished") {
      return [];
    }
    tests += 1;
    return [{ text: `${data.test.name}: ${data.status}\n` }];
  },

  finish: () => [{ text: `${tests} tests\n` }],
};
