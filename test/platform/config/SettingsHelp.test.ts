import { assert, describe, it } from "@effect/vitest"
import { settingsHelp } from "../../../src/platform/config/SettingsHelp.ts"
import { settings, settingsByName } from "../../../src/platform/config/SettingsTable.ts"

describe("settingsHelp", () => {
  it("lists every setting once, below its group, with its default", () => {
    const help = settingsHelp(120)
    for (const name of Object.keys(settingsByName)) {
      assert.strictEqual(help.match(new RegExp(`^  ${name} +\\S`, "gm"))?.length, 1, name)
    }
    assert.deepStrictEqual(help.match(/^\S.*$/gm), Object.keys(settings))
    assert.match(help, /^ {2}PORT +The public port; 0 picks a free one\. \[8787\]$/m)
    assert.match(help, /^ {2}LOG_LEVEL +.*\[info\]$/m)
  })

  it("keeps its lines within the columns, and is plain text", () => {
    for (const columns of [80, 120]) {
      const lines = settingsHelp(columns).split("\n")
      assert.isAtMost(Math.max(...lines.map(({ length }) => length)), columns)
    }
    const help = settingsHelp(200)
    assert.notMatch(help, /[`\]]\(|`/)
    assert.include(help, "see docs/operate/providers.md.")
  })
})
