import { assert, describe, it } from "@effect/vitest"
import { auditEvents } from "../../../src/console/data/AuditEvents.ts"
import { filesBelow, textOf } from "../../support/Sources.ts"

/** Words of the same form that are not events of an owner's audit log. */
const others = [
  /^(operator|operator_key|plan|config|checkout|images|response|audio)\./,
  "budget.threshold",
  "webhook.test",
  "preset.version",
  "session.export",
  "file.file_id"
]
const isOther = (word: string) =>
  others.some((other) => (typeof other === "string" ? other === word : other.test(word)))

const sources = ["account", "billing", "presets", "webhooks", "http/handlers"].flatMap((room) =>
  filesBelow(`src/${room}`)
)

/** The events that the code writes as `type: "key.created"`, or as the first argument for a line of the log. */
const written = new Set(
  sources
    .flatMap((path) => [
      ...textOf(path).matchAll(/(?:\btype:[^\n,]*?|withLine\(|body, |endMany\(request, |: )"([a-z_]+\.[a-z_]+)"/g)
    ])
    .map(([, word = ""]) => word)
    .filter((word) => !isOther(word))
)

describe("the console's list of audit events", () => {
  const offered = Object.values(auditEvents).flat()

  it("has every event that the gateway writes, so that an owner can filter by it", () => {
    assert.isAbove(written.size, 20)
    assert.deepStrictEqual(
      [...written].filter((event) => !offered.includes(event)),
      []
    )
  })

  it("names each event once", () => {
    assert.deepStrictEqual(offered, [...new Set(offered)])
  })
})
