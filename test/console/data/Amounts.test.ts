import { assert, describe, it } from "@effect/vitest"
import { STARTER_CREDIT } from "../../../src/billing/Phones.ts"
import { LOW_BALANCE_USD, STARTER_CREDIT_USD } from "../../../src/console/data/Amounts.ts"
import { LOW_BALANCE } from "../../../src/domain/Balance.ts"
import { usdFromNano } from "../../../src/domain/Money.ts"

describe("the amounts in the console", () => {
  it("equal those of the gateway", () => {
    assert.strictEqual(LOW_BALANCE_USD, usdFromNano(LOW_BALANCE))
    assert.strictEqual(STARTER_CREDIT_USD, usdFromNano(STARTER_CREDIT))
  })
})
