/** Schemas designed to hang a checker, on the real thread and the real clock. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { makeCheck, MAX_WAITING, MAX_WAITING_OF_ONE } from "../../../src/providers/structured/StructuredCheck.ts"

const fine = { schema: { type: "string" }, text: '"a"' }
const meets = { _tag: "Meets", json: '"a"' } as const
const tooLong = { _tag: "Unchecked", detail: "checking it took too long" } as const

/** Backtracks through more paths than there is time for. */
const redos = { schema: { pattern: "^(a+)+$" }, text: JSON.stringify(`${"a".repeat(64)}!`) }

/** Each level refers to the next one twice, which makes 2 to the power of 60 paths. */
const blowUp = (keyword: "anyOf" | "allOf" | "oneOf") => {
  const $defs: Record<string, unknown> = { l60: { type: "number" } }
  for (let level = 0; level < 60; level++) {
    const next = { $ref: `#/$defs/l${level + 1}` }
    $defs[`l${level}`] = { [keyword]: [next, next] }
  }
  return { schema: { $ref: "#/$defs/l0", $defs }, text: '"a"' }
}

/** Runs an effect and counts how often this thread got a turn meanwhile. */
const alongside = <A>(effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let turns = 0
    const count = Effect.forever(
      Effect.andThen(
        Effect.sleep("5 millis"),
        Effect.sync(() => turns++)
      )
    )
    const fiber = yield* Effect.forkChild(count)
    const value = yield* effect
    yield* Fiber.interrupt(fiber)
    return { value, turns }
  })

describe("schema checks", () => {
  it.live("return a verdict for each job, one after the other", () =>
    Effect.gen(function* () {
      const check = yield* makeCheck
      assert.deepStrictEqual(yield* check(fine), meets)
      const jobs = Array.from({ length: 20 }, (_, index) => ({ ...fine, text: JSON.stringify(`${index}`) }))
      const verdicts = yield* Effect.forEach(jobs, check, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        verdicts,
        jobs.map(({ text }) => ({ _tag: "Meets", json: text }))
      )
    }).pipe(Effect.scoped)
  )

  const hostile = [
    ["a pattern that backtracks without end", redos],
    ["nested anyOf", blowUp("anyOf")],
    ["nested allOf", blowUp("allOf")],
    ["nested oneOf", blowUp("oneOf")],
    ["a schema that blows up without an answer", { ...blowUp("anyOf"), text: undefined }]
  ] as const
  for (const [name, job] of hostile) {
    it.live(`time out on ${name} without blocking this thread, and check the next job`, () =>
      Effect.gen(function* () {
        const check = yield* makeCheck
        assert.deepStrictEqual(yield* check(fine), meets)
        const { turns, value } = yield* alongside(check(job))
        assert.strictEqual(value._tag, "Unchecked")
        assert.isAbove(turns, 1)
        assert.deepStrictEqual(yield* check(fine), meets)
      }).pipe(Effect.scoped)
    )
  }

  it.live("keep the waiting jobs while a thread is terminated", () =>
    Effect.gen(function* () {
      const check = yield* makeCheck
      const verdicts = yield* Effect.forEach([redos, fine, redos, fine], check, { concurrency: "unbounded" })
      assert.deepStrictEqual(verdicts, [tooLong, meets, tooLong, meets])
    }).pipe(Effect.scoped)
  )

  it.live("fail a job that needs too much memory, and check the next one", () =>
    Effect.gen(function* () {
      const check = yield* makeCheck
      const text = `[${"[1],".repeat(4_000_000)}1]`
      assert.strictEqual((yield* check({ schema: {}, text }))._tag, "Unchecked")
      assert.deepStrictEqual(yield* check(fine), meets)
    }).pipe(Effect.scoped)
  )

  const full = { _tag: "Unchecked", detail: "too many checks are waiting", busy: true } as const
  const fits = { _tag: "Meets", json: "" } as const

  it.live("reject schemas beyond the queue limit, drop interrupted ones, and accept every answer", () =>
    Effect.gen(function* () {
      const check = yield* makeCheck
      const first = yield* Effect.forkChild(check(redos), { startImmediately: true })
      const waiting = []
      for (let at = 0; at < MAX_WAITING; at++) {
        const job = { ...fine, text: undefined, accountId: `${at}` }
        waiting.push(yield* Effect.forkChild(check(job), { startImmediately: true }))
      }
      assert.deepStrictEqual(yield* check({ ...fine, text: undefined }), full)
      const paid = yield* Effect.forkChild(check(fine), { startImmediately: true })
      yield* Fiber.interrupt(waiting[0]!)
      const late = yield* Effect.forkChild(check({ ...fine, text: undefined }), { startImmediately: true })
      assert.deepStrictEqual(yield* Fiber.join(first), tooLong)
      assert.deepStrictEqual([yield* Fiber.join(paid), yield* Fiber.join(late)], [meets, fits])
    }).pipe(Effect.scoped)
  )

  it.live("alternate between accounts, and limit the waiting schemas of one account", () =>
    Effect.gen(function* () {
      const check = yield* makeCheck
      const order: Array<string> = []
      const of = (accountId: string, text: string | undefined) =>
        Effect.forkChild(
          Effect.tap(check({ ...fine, text, accountId }), () => Effect.sync(() => order.push(accountId))),
          { startImmediately: true }
        )
      const first = yield* Effect.forkChild(check(redos), { startImmediately: true })
      const fibers = []
      for (let at = 0; at < MAX_WAITING_OF_ONE; at++) fibers.push(yield* of("many", undefined))
      assert.deepStrictEqual(yield* check({ ...fine, text: undefined, accountId: "many" }), full)
      fibers.push(yield* of("few", undefined), yield* of("few", '"a"'))
      yield* Fiber.join(first)
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.deepStrictEqual(order, ["many", "few", "many", "few", "many", "many"])
    }).pipe(Effect.scoped)
  )

  it.live("end with their scope", () =>
    Effect.gen(function* () {
      const { check, left } = yield* Effect.scoped(
        Effect.gen(function* () {
          const check = yield* makeCheck
          const fibers = []
          for (const job of [redos, fine]) {
            fibers.push(yield* Effect.forkDetach(check(job), { startImmediately: true }))
          }
          return { check, left: fibers }
        })
      )
      const stops = { _tag: "Unchecked", detail: "the service is stopping", busy: true } as const
      for (const fiber of left) assert.deepStrictEqual(yield* Fiber.join(fiber), stops)
      assert.strictEqual((yield* check(fine))._tag, "Unchecked")
    })
  )

  it("do not keep the process alive", async () => {
    const file = fileURLToPath(new URL("../../../src/providers/structured/StructuredCheck.ts", import.meta.url))
    const code = `
      import { Effect, Scope } from "effect"
      import { makeCheck } from ${JSON.stringify(file)}
      const check = await Effect.runPromise(Scope.provide(makeCheck, Scope.makeUnsafe()))
      console.log((await Effect.runPromise(check(${JSON.stringify(fine)})))._tag)
    `
    const args = ["--input-type=module-typescript", "--eval", code]
    const said = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, args, { timeout: 30_000 }, (error, out) =>
        error === null ? resolve(out) : reject(error)
      )
    )
    assert.strictEqual(said.trim(), "Meets")
  })
})
