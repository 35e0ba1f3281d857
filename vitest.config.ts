import { defineConfig } from "vitest/config"

/** Retries under kills, and generators that are installed first. Each takes about a minute, so only `npm run test:full` runs them. */
const long = ["test/crash/RetryStorm.test.ts", "test/contract/Generators.test.ts"]

/** Tests that do more in `npm run test:full`: more kills and failovers, longer partitions, and 5,000 slow clients. */
const longer = [
  ...["Failover", "Kills", "Partition"].map((name) => `test/topology/${name}.test.ts`),
  "test/security/SlowClients.test.ts"
]

const isFull = process.env["TEST_FULL"] === "1"

export default defineConfig({
  test: {
    include: isFull ? [...long, ...longer] : ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**", ...(isFull ? [] : long)],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    // Loading the program for each file takes longer than the tests.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for clocks and processes.
    maxWorkers: 3,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000
  }
})
