import { assert, describe, it } from "@effect/vitest"
import { type Place, Roster } from "../../src/platform/Roster.ts"
import { Random, seeds } from "../ledger/Random.ts"

describe("a roster", () => {
  const [seed = 0] = seeds(1)
  it(`holds the members that joined and did not leave, in any order (LEDGER_SEED=${seed})`, () => {
    const random = new Random(seed)
    const roster = new Roster<number>()
    const places = new Map<number, Place<number>>()
    for (let step = 0; step < 5_000; step++) {
      const present = [...places.keys()]
      if (present.length === 0 || random.chance(0.5)) {
        places.set(step, roster.join(step))
      } else {
        const leaver = random.pick(present)
        roster.leave(places.get(leaver)!)
        places.delete(leaver)
      }
      assert.strictEqual(roster.size, places.size)
    }
    assert.sameMembers([...roster.members], [...places.keys()])
  })

  it("is not changed by a member that leaves twice", () => {
    const roster = new Roster<string>()
    const [first, second] = [roster.join("first"), roster.join("second")]
    roster.leave(first)
    roster.leave(first)
    assert.deepStrictEqual(roster.members, ["second"])
    roster.leave(second)
    roster.leave(second)
    assert.strictEqual(roster.size, 0)
  })
})
