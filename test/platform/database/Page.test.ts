import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pageBy, readPage } from "../../../src/platform/database/Page.ts"

const rows = ["a", "b", "c"].map((id) => ({ id }))

/** Reads these rows after a cursor. */
const read = ({ after, limit }: { readonly after: string | null; readonly limit: number }) =>
  Effect.succeed(rows.filter(({ id }) => after === null || id > after).slice(0, limit))

describe("a page", () => {
  it.effect("has the requested number of rows, and a cursor if another page follows", () =>
    Effect.gen(function* () {
      const first = yield* readPage({ after: null as string | null, limit: 2 }, read)
      assert.deepStrictEqual(first, { rows: [{ id: "a" }, { id: "b" }], next: "b" })
      assert.deepStrictEqual(yield* readPage({ after: first.next, limit: 2 }, read), {
        rows: [{ id: "c" }],
        next: null
      })
      assert.deepStrictEqual(yield* readPage({ after: null, limit: 3 }, read), { rows, next: null })
    })
  )

  it("is empty without rows", () => {
    assert.deepStrictEqual(
      pageBy([] as ReadonlyArray<{ readonly id: string }>, 5, ({ id }) => id),
      { rows: [], next: null }
    )
  })
})
