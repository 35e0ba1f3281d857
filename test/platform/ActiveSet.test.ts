import { assert, describe, it } from "@effect/vitest"
import { type ActiveEntry, ActiveSet } from "../../src/platform/ActiveSet.ts"
import { Random, seeds } from "../ledger/Random.ts"

describe("an active set", () => {
  const [seed = 0] = seeds(1)
  it(`holds the members that were added and not removed, in any order (LEDGER_SEED=${seed})`, () => {
    const random = new Random(seed)
    const active = new ActiveSet<number>()
    const entries = new Map<number, ActiveEntry<number>>()
    for (let step = 0; step < 5_000; step++) {
      const present = [...entries.keys()]
      if (present.length === 0 || random.chance(0.5)) {
        entries.set(step, active.add(step))
      } else {
        const leaver = random.pick(present)
        active.remove(entries.get(leaver)!)
        entries.delete(leaver)
      }
      assert.strictEqual(active.size, entries.size)
    }
    assert.sameMembers([...active.members], [...entries.keys()])
  })

  it("ignores the second removal of a member", () => {
    const active = new ActiveSet<string>()
    const [first, second] = [active.add("first"), active.add("second")]
    active.remove(first)
    active.remove(first)
    assert.deepStrictEqual(active.members, ["second"])
    active.remove(second)
    active.remove(second)
    assert.strictEqual(active.size, 0)
  })
})
