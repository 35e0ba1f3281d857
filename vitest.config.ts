import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The storms under kills run by `npm run test:full`.
    exclude: [
      "test/bench/**",
      "node_modules/**",
      ...(process.env["TEST_FULL"] === "1" ? [] : ["test/crash/Storm.test.ts", "test/crash/Crash.test.ts"])
    ],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000
  }
})
