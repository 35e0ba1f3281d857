import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readValues, settingsByName } from "../../../src/platform/config/SettingsTable.ts"
import { fileVariable } from "../../../src/platform/config/Variables.ts"

const decode = (env: Record<string, string>) =>
  Effect.provideService(readValues, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

/** Settings whose shown default is applied where the setting is used. */
const appliedLater = new Set(["DATA_DIR", "OTEL_SERVICE_NAME"])

describe("the table of settings", () => {
  it("describes each setting in full sentences", () => {
    for (const [name, { allowed, meaning }] of Object.entries(settingsByName)) {
      assert.match(meaning, /^\S.*\.$/s, name)
      assert.match(allowed, /^[^`]+[^.]$/, name)
    }
  })

  it("accepts a file for every key, password and URL with a password, and for no other setting", () => {
    const secrets = Object.entries(settingsByName).flatMap(([name, { isSecret }]) => (isSecret ? [name] : []))
    const shaped = /(_KEY|_KEY_ID|_SECRET|_TOKEN|_HEADERS)$|^(DATABASE|REDIS|SMTP)_URL$/
    assert.deepStrictEqual(
      secrets,
      Object.keys(settingsByName).filter((name) => shaped.test(name))
    )
    for (const name of secrets) assert.notProperty(settingsByName, fileVariable(name))
  })

  it.effect("shows the default that an absent setting gets", () =>
    Effect.gen(function* () {
      const absent = yield* decode({})
      for (const [name, { shown }] of Object.entries(settingsByName)) {
        if (shown === undefined || shown === "" || appliedLater.has(name)) continue
        const values = yield* decode({ [name]: shown })
        assert.deepStrictEqual(values[name as keyof typeof values], absent[name as keyof typeof absent], name)
      }
    })
  )

  it.effect("names the first variable with an invalid value", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decode({ PORT: "http", HOLD_TTL: "soon" }))
      assert.strictEqual(error.message, "PORT must be a port, a whole number from 0 (any free one) to 65535")
    })
  )
})
