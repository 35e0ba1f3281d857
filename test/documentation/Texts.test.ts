import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { readPages } from "../../src/documentation/Library.ts"
import { llmsFullText, llmsText, searchEntries } from "../../src/documentation/Texts.ts"
import { root } from "../support/Sources.ts"

const pages = readPages(join(root, "docs")).pipe(Effect.provide(NodeServices.layer))

describe("the pages of docs/", () => {
  it.effect("are available to the search and to language models", () =>
    Effect.map(pages, (found) => {
      const entry = searchEntries(found).find(({ path }) => path === "guide/keys-projects-budgets")
      assert.isTrue(entry?.headings.some(([, text]) => text === "Rotate a key without downtime"))
      assert.include(llmsText(found, "https://api.example.com"), "(https://api.example.com/docs/guide/limits.md)")
      for (const { markdown } of found) assert.include(llmsFullText(found), markdown.trim())
    })
  )
})
