/** Compares the page on security with its tests and with the limits in the code. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { BODY_BUDGET_BYTES } from "../../src/http/edge/BodyBudget.ts"
import { MAX_BODY_BYTES } from "../../src/http/edge/Body.ts"
import { clientTimeouts } from "../../src/http/edge/Server.ts"
import { filesBelow, root, textOf } from "../support/Sources.ts"

const page = textOf("docs/operate/security.md")

describe("docs/operate/security.md", () => {
  it("names an existing test for every promise, and every test of test/security", () => {
    const promises = page
      .slice(page.indexOf("| Promise |"), page.indexOf("## Limits"))
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| Promise"))
    const named = promises.map((line) => [...line.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!))
    for (const [at, paths] of named.entries()) assert.isNotEmpty(paths, promises[at])
    for (const path of named.flat()) assert.isTrue(existsSync(join(root, path)), path)
    const own = filesBelow("test/security").filter((path) => path.endsWith(".test.ts") && !path.includes("Promises"))
    assert.includeMembers(named.flat(), own)
  })

  it("lists the client timeouts and body limits of the code", () => {
    const mib = (bytes: number) => `${bytes / 1_048_576} MiB`
    for (const text of [
      `| headers | 16 KiB, within ${clientTimeouts.headersMs / 1_000} seconds |`,
      `| whole request | ${clientTimeouts.requestMs / 1_000} seconds |`,
      `| body, plain or decompressed | ${mib(MAX_BODY_BYTES)}; ${mib(BODY_BUDGET_BYTES)} for all`,
      `| time without reading any of a response | ${clientTimeouts.stalledMs / 1_000} seconds |`,
      `| pause between requests of a connection | ${clientTimeouts.keepAliveMs / 1_000} seconds |`,
      `every ${clientTimeouts.checkMs / 1_000} seconds`
    ]) {
      assert.include(page, text)
    }
  })
})
