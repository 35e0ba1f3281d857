import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { holdsSecret, withoutSecrets } from "../../src/account/SecretForms.ts"
import { secretOf } from "../../src/webhooks/Signature.ts"

const keyOf = (prefix: string) => prefix + randomBytes(32).toString("base64url")

describe("secrets", () => {
  it("are recognized by their forms and redacted wherever they appear", () => {
    for (let round = 0; round < 100; round++) {
      const secrets = [keyOf("svc_sk_"), keyOf("svc_mk_"), Redacted.value(secretOf(randomBytes(32)))]
      for (const secret of secrets) {
        const text = JSON.stringify({ name: ["before", `my ${secret}, and more`] })
        assert.isTrue(holdsSecret(text))
        const cleared = withoutSecrets(text)
        assert.isFalse(holdsSecret(cleared))
        assert.notInclude(cleared, secret.slice(8))
        assert.match(cleared, /"my (svc_[sm]k|whsec)_\[redacted\], and more"/)
      }
    }
  })

  it("are not found in texts without any", () => {
    const text = JSON.stringify({ prefix: "svc_sk_abcd", last4: "wxyz", url: "https://example.com/whsec_", n: 1 })
    assert.isFalse(holdsSecret(text))
    assert.strictEqual(withoutSecrets(text), text)
  })
})
