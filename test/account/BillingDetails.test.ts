import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BillingDetailsReport } from "../../schemas/console/Settings.ts"
import { ownerStage as stage } from "../support/Owner.ts"

const decode = { details: Schema.decodeUnknownSync(BillingDetailsReport, { onExcessProperty: "error" }) }

describe("the billing details of an account", () => {
  it.live("change field by field, with the change in the audit log", () =>
    Effect.gen(function* () {
      const { accountId, one, service } = yield* stage
      const none = { object: "billing_details", company_name: null, address_lines: [], tax_id: null } as const
      assert.deepStrictEqual(decode.details((yield* one.ask("GET", "/billing-details")).body).data, none)
      const whole = {
        company_name: "Müller & Söhne GmbH",
        address_lines: ["Hauptstraße 1", "10115 Berlin"],
        tax_id: "DE123456789"
      }
      const set = yield* one.ask("PATCH", "/billing-details", whole)
      assert.deepStrictEqual(decode.details(set.body).data, { object: "billing_details", ...whole })
      const less = yield* one.ask("PATCH", "/billing-details", { tax_id: null })
      assert.deepStrictEqual(decode.details(less.body).data, { object: "billing_details", ...whole, tax_id: null })
      assert.deepStrictEqual((yield* one.ask("GET", "/billing-details")).body, less.body)
      const lines = (yield* service.audit(accountId)).filter(({ type }) => type === "billing_details.changed")
      assert.deepStrictEqual(lines[0]?.changes, { tax_id: { from: "DE123456789", to: null } })
      assert.deepStrictEqual(lines[1]?.changes, {
        company_name: { from: null, to: whole.company_name },
        address_lines: { from: [], to: whole.address_lines },
        tax_id: { from: null, to: whole.tax_id }
      })
      for (const [change, param] of [
        [{ company_name: "" }, "company_name"],
        [{ company_name: "a\nb" }, "company_name"],
        [{ company_name: "   " }, "company_name"],
        [{ company_name: "x".repeat(201) }, "company_name"],
        [{ tax_id: "DE 1" + "2".repeat(40) }, "tax_id"],
        [{ tax_id: "<b>" }, "tax_id"],
        [{ address_lines: ["a", "b", "c", "d", "e", "f", "g"] }, "address_lines"],
        [{ address_lines: ["a\u2028b"] }, "address_lines[0]"]
      ] as const) {
        const refused = yield* one.ask("PATCH", "/billing-details", change)
        assert.deepStrictEqual([refused.status, refused.body.error.param], [400, param], JSON.stringify(change))
      }
    }).pipe(Effect.scoped)
  )
})
