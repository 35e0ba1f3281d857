import { assert, describe, it } from "@effect/vitest"
import { emailChanged, emailOf } from "../../src/notifications/EmailText.ts"
import type { NotificationGroup, NotificationKind } from "../../src/notifications/NotificationsSql.ts"

const base = "https://gateway.example.com"

const group = (kind: NotificationKind, ...data: ReadonlyArray<Record<string, unknown>>): NotificationGroup => ({
  account_id: "0".repeat(24),
  kind,
  email: "ann@example.com",
  closed: false,
  posted: 4_870_000_000n,
  notifications: data.map((one, at) => ({ at: `2026-03-01T09:3${at % 10}:12.345678+00:00`, data: one }))
})

const key = { action: "revoked", actor: "key", name: "laptop", kind: "inference", prefix: "svc_sk_abcd", last4: "wxyz" }

describe("emailOf", () => {
  it("contains the balance, the budget, the endpoint, the origin and the key, and a link to act", () => {
    const low = emailOf(group("low_balance", {}), base)
    assert.strictEqual(low.subject, "Your balance is $4.87")
    assert.include(low.body, `Top up: ${base}/billing`)
    const budget = { scope: "key", name: "laptop", threshold_percent: 80, budget_cents: 5_000, spent_cents: 4_012.5 }
    const alert = emailOf(group("budget_alert", { ...budget, period: "monthly" }), base)
    assert.strictEqual(alert.subject, "80% of the budget of laptop is spent")
    assert.include(alert.body, "The key laptop has spent 80% of its monthly budget: $40.13 of $50.00.")
    const hook = emailOf(group("webhook_disabled", { url: "https://a.example/", reason: "it answered 410" }), base)
    assert.include(
      hook.body,
      "2026-03-01 09:30 UTC: the webhook endpoint https://a.example/ was disabled, because it answered 410."
    )
    const signIn = emailOf(group("sign_in", { browser: "Firefox on Linux", address: "203.0.113.9" }), base)
    assert.strictEqual(signIn.subject, "New sign-in from Firefox on Linux")
    assert.include(signIn.body, "Firefox on Linux at 203.0.113.9")
    assert.include(emailOf(group("sign_in", { browser: null, address: null }), base).body, "an unknown browser")
    const revoked = emailOf(group("key_change", key), base)
    assert.strictEqual(revoked.subject, "The key laptop was revoked")
    assert.include(revoked.body, "The key laptop (svc_sk_abcd…wxyz) was revoked by a management key.")
    for (const { body } of [low, alert, hook, signIn, revoked]) assert.include(body, `${base}/settings`)
  })

  it("puts many notifications into one email, and describes the first twenty of them", () => {
    const { body, subject } = emailOf(group("key_change", ...Array.from({ length: 25 }, () => key)), base)
    assert.strictEqual(subject, "25 changes of your keys")
    assert.lengthOf(body.match(/The key laptop/g) ?? [], 20)
    assert.include(body, "And 5 more.")
  })

  it("keeps names on their line and subjects short", () => {
    const name = `a\r\nBcc: eve@example.com\u2028${"x".repeat(90)}`
    const { body, subject } = emailOf(group("key_change", { ...key, name }), base)
    assert.isAtMost(subject.length, 78)
    assert.notMatch(subject, /[\r\n\u2028]/)
    assert.include(body, "The key a Bcc: eve@example.com x")
  })
})

describe("emailChanged", () => {
  it("contains the new address and the time", () =>
    assert.include(
      emailChanged("bob@example.com", new Date("2026-03-01T09:30:00Z")).body,
      "2026-03-01 09:30 UTC: the address of your account was changed to bob@example.com."
    ))
})
