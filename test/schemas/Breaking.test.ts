import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { breaks, type Contract, contractOf } from "../support/Breaking.ts"
import { openApiText } from "../support/Published.ts"

const file = new URL("../../schemas/published/released.json", import.meta.url)

const now = (): Contract => contractOf(JSON.parse(openApiText()))

// A release writes the file again with `npm run released`, after the maintainers have decided on its breaks.
if (process.env["WRITE_RELEASED"] === "1") writeFileSync(file, `${JSON.stringify(now())}\n`)

const released: Contract = JSON.parse(readFileSync(file, "utf8"))

/** Returns a changed copy of the contract. */
// oxlint-disable-next-line typescript/no-explicit-any
const changed = (change: (contract: any) => void): Contract => {
  const copy = structuredClone(released)
  change(copy)
  return copy
}

describe("the contract since the last release", () => {
  it("breaks no client", () => assert.deepStrictEqual(breaks(released, now()), []))
})

describe("a change of the contract", () => {
  it("breaks clients when it removes an operation, a member, a value or a status", () => {
    const found = (change: Parameters<typeof changed>[0]) => breaks(released, changed(change))
    assert.deepStrictEqual(
      found(({ paths }) => delete paths["/api/v1/key"].get),
      ["GET /api/v1/key was removed"]
    )
    assert.include(
      found(({ components }) => delete components.schemas.KeyReport.properties.last4),
      "GET /api/v1/key 200.last4 was removed"
    )
    assert.include(
      found(({ components }) => components.schemas.VideoJob.properties.status.enum.pop()),
      'POST /api/v1/videos 200.status no longer has the value "failed"'
    )
    assert.include(
      found(({ paths }) => delete paths["/api/v1/key"].get.responses["429"]),
      "GET /api/v1/key no longer answers 429"
    )
    assert.include(
      found(({ components }) => (components.schemas.KeyReport.required = [])),
      'GET /api/v1/key 200 may now lack "id"'
    )
  })

  it("breaks clients when a request newly requires a member", () =>
    assert.include(
      breaks(
        released,
        changed(({ components }) => components.schemas.SearchRequest.required.push("country"))
      ),
      'POST /api/v1/search request newly requires "country"'
    ))

  it("breaks no client when it adds operations, members and values", () =>
    assert.deepStrictEqual(
      breaks(
        released,
        changed(({ components, paths }) => {
          paths["/api/v1/new"] = paths["/api/v1/key"]
          components.schemas.KeyReport.properties.more = { type: "string" }
          components.schemas.KeyReport.required.push("more")
          components.schemas.SearchRequest.properties.more = { type: "string" }
          components.schemas.VideoJob.properties.status.enum.push("paused")
        })
      ),
      []
    ))
})
