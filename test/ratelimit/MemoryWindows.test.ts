import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { limits, requestsAt, type Subject, windowOf } from "../../src/ratelimit/Limits.ts"
import { MemoryWindows } from "../../src/ratelimit/MemoryWindows.ts"

const key = (id: number | string): Subject => ({ kind: "key", id: `${id}` })

describe("MemoryWindows", () => {
  it("drops the window that opened first when it is full, whichever was used last", () => {
    const windows = new MemoryWindows(3)
    for (const id of [1, 2, 3]) windows.consume("chat", key(id), 1, id)
    windows.consume("chat", key(1), 1, 4)
    windows.consume("chat", key(4), 1, 5)
    assert.strictEqual(windows.size, 3)
    const used = [1, 2, 3, 4].map((id) => 60 - windows.peek("chat", key(id), 1, 6).remaining)
    assert.deepStrictEqual(used, [0, 1, 1, 1])
  })

  it("treats a subject whose window ended and opened again as the newest", () => {
    const windows = new MemoryWindows(2)
    windows.consume("chat", key(1), 1, 0)
    windows.consume("chat", key(2), 1, 30_000)
    windows.consume("chat", key(1), 1, 60_000)
    windows.consume("chat", key(3), 1, 60_001)
    const used = [1, 2, 3].map((id) => 60 - windows.peek("chat", key(id), 1, 60_002).remaining)
    assert.deepStrictEqual(used, [1, 0, 1])
  })

  it("does not drop a new window together with the ended one that it replaces", () => {
    const windows = new MemoryWindows()
    for (const id of [1, 2, 3, 4]) windows.consume("chat", key(id), 1, 0)
    windows.consume("chat", key(4), 1, 60_000)
    for (const id of [5, 6, 7]) windows.consume("chat", key(id), 1, 60_001)
    assert.strictEqual(windows.peek("chat", key(4), 1, 60_002).remaining, 59)
    assert.strictEqual(windows.size, 4)
  })

  it("has a bounded size under any number of subjects, and drops ended windows as new ones open", () => {
    const windows = new MemoryWindows(1000)
    for (let id = 0; id < 10_000; id++) {
      windows.consume("default", key(id), 1, id)
      assert.isAtMost(windows.size, 1000)
    }
    for (let id = 0; id < 1000; id++) windows.consume("default", key(`late ${id}`), 1, 80_000)
    assert.strictEqual(windows.size, 1000)
    for (let id = 0; id < 500; id++) windows.consume("default", key(`later ${id}`), 1, 200_000)
    assert.strictEqual(windows.size, 500)
  })

  it("keeps the windows of keys and accounts under a flood from many addresses", () => {
    const windows = new MemoryWindows(2)
    const account: Subject = { kind: "account", id: "a" }
    windows.consume("video", key("k"), 1, 0)
    windows.consume("management_writes", account, 1, 0)
    for (let n = 0; n < 100; n++) windows.consume("default", { kind: "address", id: `10.0.0.${n}` }, 1, 1)
    assert.strictEqual(windows.size, 4)
    assert.strictEqual(windows.peek("video", key("k"), 1, 2).remaining, 1)
    assert.strictEqual(windows.peek("management_writes", account, 1, 2).remaining, 29)
  })
})

const History = Schema.Array(
  Schema.Struct({
    waitMillis: Schema.Literals([0, 1, 999, 10_000, 59_999, 60_000]),
    policy: Schema.Literals(["video", "video_status", "default", "management_writes"]),
    kind: Schema.Literals(["key", "account", "address"]),
    id: Schema.Literals(["x", "y"]),
    scale: Schema.Literals([0.05, 0.5, 1]),
    requests: Schema.Literals([1, 2, 5])
  })
)

/** The open window at `now`, computed from the times of all admitted requests. */
const windowAt = (admitted: ReadonlyArray<number>, now: number) => {
  let openedAt = Number.NEGATIVE_INFINITY
  let used = 0
  for (const time of [...admitted, now]) {
    if (time - openedAt >= 60_000) {
      openedAt = time
      used = 0
    }
    used++
  }
  return { used: used - 1, left: openedAt + 60_000 - now }
}

it.prop(
  "MemoryWindows decides every history of requests as the rule does",
  { history: History },
  ({ history }) => {
    const windows = new MemoryWindows()
    const admitted = new Map<string, Array<number>>()
    let now = 1
    for (const { id, kind, policy, requests, scale, waitMillis } of history) {
      now += waitMillis
      for (let request = 0; request < requests; request++) {
        const name = windowOf(policy)
        const place = `${name} ${kind} ${id}`
        const past = admitted.get(place) ?? []
        const { left, used } = windowAt(past, now)
        const limit = requestsAt(name, scale)
        const unlimited = limits[policy].requests === "unlimited"
        const counted = !unlimited && used < limit
        if (counted) admitted.set(place, [...past, now])
        const peeked = windows.peek(policy, { kind, id }, scale, now)
        assert.strictEqual(peeked.remaining, Math.max(0, limit - used))
        const verdict = windows.consume(policy, { kind, id }, scale, now)
        assert.strictEqual(verdict.admitted, unlimited || counted)
        assert.strictEqual(verdict.remaining, Math.max(0, limit - used - (counted ? 1 : 0)))
        assert.strictEqual(verdict.resetSeconds, Math.ceil(left / 1000))
      }
    }
  },
  { arbitrary: { runs: 300 } }
)
