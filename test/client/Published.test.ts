import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { format, type FormatOptions } from "oxfmt"
import { clientOperations, clientTypes, type Document } from "../support/ClientTypes.ts"
import { openApiText } from "../support/Published.ts"
import { root } from "../support/Sources.ts"

const document: Document = JSON.parse(openApiText())
const options: FormatOptions = JSON.parse(readFileSync(join(root, ".oxfmtrc.json"), "utf8"))

// `npm run published` writes both files again.
describe("the typed client", () => {
  for (const [name, write] of [
    ["Contract.ts", clientTypes],
    ["Operations.ts", clientOperations]
  ] as const) {
    it(`is generated in ${name} from the published document`, async () => {
      const { code } = await format(name, write(document), options)
      await expect(code).toMatchFileSnapshot(join(root, "src/client", name))
    })
  }
})
