/**
 * Every case in every dialect over every adapter: the request to the host, the answer and the receipt. After an intended
 * change, `vitest run test/golden/Replay.test.ts --update` writes the golden files. The diff is then reviewed.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Adapter, adapters } from "./adapters.ts"
import { type CaseName, caseNames, fateOf, isOf, questionOf } from "./cases.ts"
import type { Dialect, Json, WireEvent } from "./dialect.ts"
import { dialects } from "./dialects.ts"
import { askStreamed, askTwice, Golden, type Played } from "./stage.ts"
import { nano } from "../support/Amounts.ts"

const placeOf = (dialect: Dialect, adapter: Adapter, name: CaseName): string =>
  `${dialect.name}/${adapter.name}/${name}.json`

const fileOf = (place: string): string => fileURLToPath(new URL(place, import.meta.url))

/** The golden files that exist before the run writes any. */
const keptFiles = dialects
  .flatMap(({ name }) => readdirSync(fileOf(name), { recursive: true }).map((file) => `${name}/${String(file)}`))
  .filter((place) => place.endsWith(".json"))

const lines = (events: ReadonlyArray<WireEvent>): string =>
  events.length === 0 ? "[]" : `[\n${events.map((event) => `    ${JSON.stringify(event)}`).join(",\n")}\n  ]`

/** Removes the price, which follows the catalogue. The cost stays. */
const withoutPrice = (receipt: Json): Json => receipt && { ...receipt, price: undefined }

/** Returns the text of a golden file, with every event on a line of its own. */
const textOf = ({ streamed, whole }: Played): string => {
  const members: Array<readonly [string, Json]> = [
    ["request", whole.request],
    ["upstreamRequest", whole.upstream],
    ["upstreamStreamRequest", streamed?.upstream],
    ["status", whole.status],
    ["answer", whole.answer],
    ["streamStatus", streamed?.status],
    ["streamError", streamed?.error],
    ["receipt", withoutPrice(whole.receipt)],
    ["streamReceipt", withoutPrice(streamed?.receipt)]
  ]
  const shown = members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value, null, 2).replaceAll("\n", "\n  ")}`)
  const events = streamed === undefined ? [] : [`  "events": ${lines(streamed.events)}`]
  return `{\n${[...shown, ...events].join(",\n")}\n}\n`
}

/** Checks that the receipt shows exactly the charge to the balance. */
const paidAsSaid = ({ paid, receipt }: { readonly paid: bigint; readonly receipt: Json }) => {
  assert.strictEqual(paid, nano(receipt.cost_usd))
  assert.strictEqual(receipt.absorbed_usd, 0, "the hold must cover the fixture's usage")
}

const checkAnswered = (dialect: Dialect, { streamed, whole }: Played) => {
  assert.strictEqual(whole.status, 200)
  const said = dialect.said(whole.answer)
  assert.strictEqual(nano(said.cost), whole.paid)
  assert.deepInclude(whole.receipt, { status: "succeeded", usage_basis: "reported" })
  if (streamed === undefined) return
  assert.strictEqual(streamed.status, 200)
  const folded = dialect.fold(streamed.events)
  assert.deepStrictEqual(dialect.said(folded), said)
  assert.deepStrictEqual(dialect.bare(folded), dialect.bare(whole.answer))
  assert.strictEqual(streamed.paid, whole.paid)
  assert.deepStrictEqual(streamed.receipt, whole.receipt)
}

const checkBroken = (dialect: Dialect, { streamed, whole }: Played) => {
  assert.strictEqual(whole.status, 502)
  assert.strictEqual(dialect.codeOf(whole.answer), "upstream_error")
  assert.strictEqual(whole.paid, 0n)
  if (streamed === undefined) return
  assert.strictEqual(streamed.status, 200)
  assert.deepStrictEqual(dialect.broken(streamed.events), { text: "Half of an ans", code: "upstream_error" })
  assert.deepInclude(streamed.receipt, { status: "failed", usage_basis: "counted" })
  assert.isTrue(streamed.paid > 0n, "the delivered output must be charged")
}

const checkEmpty = (dialect: Dialect, { streamed, whole }: Played) => {
  assert.strictEqual(whole.status, 502)
  assert.strictEqual(dialect.codeOf(whole.answer), "empty_completion")
  assert.strictEqual(whole.paid, 0n)
  if (streamed === undefined) return
  assert.strictEqual(streamed.status, 502)
  assert.deepStrictEqual(streamed.error, whole.answer)
  assert.strictEqual(streamed.paid, 0n)
}

/** Cases, and the number of bytes in each piece of their streams. */
const tiny = [
  ["text", 1],
  ["parallel-tools", 7],
  ["reasoning", 64]
] as const

const checks = { answered: checkAnswered, broken: checkBroken, empty: checkEmpty }

describe("a recorded answer", () => {
  it.layer(Golden.layer, { excludeTestServices: true, timeout: "1 minute" })((it) => {
    for (const dialect of dialects) {
      for (const adapter of adapters) {
        it.effect(`of ${adapter.name} in ${dialect.name} matches its golden files, and is charged as it shows`, () =>
          Effect.gen(function* () {
            const { play } = yield* Golden
            for (const name of caseNames) {
              const played = yield* play(dialect, adapter, name)
              if (played === undefined) continue
              const file = fileOf(placeOf(dialect, adapter, name))
              yield* Effect.promise(() => expect(textOf(played)).toMatchFileSnapshot(file))
              paidAsSaid(played.whole)
              if (played.streamed !== undefined) paidAsSaid(played.streamed)
              checks[fateOf(name)](dialect, played)
            }
          })
        )
      }
    }

    for (const adapter of adapters) {
      it.effect(`of ${adapter.name} has the same content, upstream request, receipt and charge in every dialect`, () =>
        Effect.gen(function* () {
          const { play } = yield* Golden
          for (const name of caseNames) {
            const [first, ...others] = yield* Effect.forEach(dialects, (dialect) =>
              Effect.map(play(dialect, adapter, name), (played) => ({ dialect, played }))
            )
            if (first?.played === undefined) {
              assert.isFalse(isOf(name, adapter.name), "chat must express every case")
              continue
            }
            for (const { dialect, played } of others) {
              if (played === undefined) continue
              const what = `${name} in ${dialect.name}`
              if (fateOf(name) === "answered") {
                const { finish, ...said } = dialect.said(played.whole.answer)
                const { finish: theirs, ...saidFirst } = first.dialect.said(first.played.whole.answer)
                assert.deepStrictEqual(said, saidFirst, what)
                if (name !== "refusal") assert.strictEqual(finish, theirs, what)
              }
              assert.deepStrictEqual(played.whole.upstream, first.played.whole.upstream, what)
              assert.deepStrictEqual(played.whole.receipt, first.played.whole.receipt, what)
              assert.strictEqual(played.whole.paid, first.played.whole.paid, what)
              if (played.streamed !== undefined) {
                assert.deepStrictEqual(played.streamed.upstream, first.played.streamed?.upstream, what)
                assert.deepStrictEqual(played.streamed.receipt, first.played.streamed?.receipt, what)
              }
            }
          }
        })
      )
    }

    for (const adapter of adapters) {
      it.effect(`of ${adapter.name} streams the same events when the host sends tiny pieces`, () =>
        Effect.gen(function* () {
          const stage = yield* Golden
          for (const dialect of dialects.filter(({ streams }) => streams)) {
            for (const [name, bytes] of tiny) {
              const played = yield* stage.play(dialect, adapter, name)
              const body =
                dialect.ask(questionOf(name), adapter.model, true) ??
                assert.fail("the dialect must express a played case")
              stage.host.cut(bytes)
              const { events } = yield* askStreamed(stage, dialect, body)
              stage.host.cut(Number.MAX_SAFE_INTEGER)
              assert.deepStrictEqual(events, played?.streamed?.events, `${name} in pieces of ${bytes}`)
            }
          }
        })
      )
    }

    for (const adapter of adapters) {
      it.effect(`of ${adapter.name} is replayed as a stream with the same content under an idempotency key`, () =>
        Effect.gen(function* () {
          const stage = yield* Golden
          for (const dialect of dialects.filter(({ streams }) => streams)) {
            for (const name of caseNames.filter((name) => fateOf(name) === "answered" && isOf(name, adapter.name))) {
              const body = dialect.ask(questionOf(name), adapter.model, true)
              if (body === undefined) continue
              const [first, second] = yield* askTwice(stage, dialect, body)
              const what = `${name} in ${dialect.name}`
              assert.deepStrictEqual(dialect.fold(second ?? []), dialect.fold(first ?? []), what)
            }
          }
        })
      )
    }

    it.effect("has a golden file for every case, and no other golden file exists", () =>
      Effect.gen(function* () {
        const { play } = yield* Golden
        const places: Array<string> = []
        for (const dialect of dialects) {
          for (const adapter of adapters) {
            for (const name of caseNames) {
              if ((yield* play(dialect, adapter, name)) !== undefined) places.push(placeOf(dialect, adapter, name))
            }
          }
        }
        assert.deepStrictEqual(keptFiles.toSorted(), places.toSorted())
      })
    )

    it.effect("leaves the ledger without faults", () =>
      Effect.gen(function* () {
        const { service } = yield* Golden
        assert.deepStrictEqual(yield* service.faults, [])
      })
    )
  })
})
