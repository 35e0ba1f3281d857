import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { readPages } from "../../src/documentation/Library.ts"
import { root } from "../support/Sources.ts"

const pages = readPages(join(root, "docs")).pipe(Effect.provide(NodeServices.layer))

describe("the pages of docs/", () => {
  it.effect("are listed in reading order", () =>
    Effect.map(pages, (found) => {
      assert.strictEqual(found[0]?.path, "guide/quick-start")
      const sections = found.map(({ section }) => section)
      assert.deepStrictEqual([...new Set(sections)], ["Guide", "Reference", "Operate", "Design", "Contribute"])
      assert.isAbove(found.length, 40)
    })
  )

  it.effect("link only to existing pages and headings", () =>
    Effect.map(pages, (found) => {
      const known = new Map(found.map((page) => [page.path, page]))
      for (const { html, path } of found) {
        for (const [, target = "", anchor] of html.matchAll(/href="\/docs\/([^"#]*)(?:#([^"]*))?"/g)) {
          const page = known.get(target)
          assert.isDefined(page, `${path} → ${target}`)
          if (anchor === undefined) continue
          assert.include(
            page?.headings.map(({ id }) => id),
            anchor,
            `${path} → ${target}#${anchor}`
          )
        }
      }
    })
  )
})
