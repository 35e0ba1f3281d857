import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The storm runs by `npm run test:full`.
    exclude: [
      "test/bench/**",
      "node_modules/**",
      ...(process.env["TEST_FULL"] === "1" ? [] : ["test/crash/Storm.test.ts"])
    ],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000
  }
})
