import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { frame, indexHtml, pageHtml } from "../../src/documentation/Frame.ts"
import { readPages } from "../../src/documentation/Library.ts"
import { root } from "../support/Sources.ts"

const pages = readPages(join(root, "docs")).pipe(Effect.provide(NodeServices.layer))

describe("the pages of docs/", () => {
  it.effect("are rendered in a frame without inline script or style", () =>
    Effect.map(pages, (found) => {
      for (const page of found) {
        const html = pageHtml(found, page)
        assert.notMatch(html, /<script>|<style>|style="|onclick/, page.path)
        assert.include(html, `href="/docs/${page.path}" aria-current="page"`)
      }
      assert.include(indexHtml(found), "Quick start")
      assert.include(frame(found, { title: "<b>", current: "", body: "" }), "<title>&lt;b&gt; · tollgate</title>")
    })
  )
})
