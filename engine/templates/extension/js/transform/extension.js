// Skips every test whose name starts with `slow`.

export const describing = {
  describe: () => ({ id: "{{name}}", version: "0.1.0", matchers: [], capabilities: [] }),
};

export const transforming = {
  transform(text) {
    const suite = JSON.parse(text);
    for (const test of Object.values(suite).filter(Array.isArray).flat()) {
      if (String(test?.it).startsWith("slow")) {
        test.skip = "it is slow";
      }
    }
    return JSON.stringify(suite);
  },
};
