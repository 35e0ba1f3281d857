import { defineConfig } from "vitest/config"

/**
 * A storm under kills, and generators that are installed first. They take about a minute each: `npm run test:full` runs them, and
 * `npm test` does not.
 */
const long = ["test/crash/Storm.test.ts", "test/contract/Generators.test.ts"]

/** Tests that do more in `npm run test:full`: more deaths and failovers of nodes, longer partitions, and 5,000 slow clients. */
const longer = [
  ...["Deaths", "Failover", "Partition"].map((name) => `test/topology/${name}.test.ts`),
  "test/security/SlowClients.test.ts"
]

const isFull = process.env["TEST_FULL"] === "1"

export default defineConfig({
  test: {
    include: isFull ? [...long, ...longer] : ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**", ...(isFull ? [] : long)],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    // Loading the program anew for each file would take longer than the tests.
    isolate: false,
    // One more than the cores of a small machine: many tests wait for clocks and processes.
    maxWorkers: 3,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000
  }
})
