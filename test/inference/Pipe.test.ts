import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { failure } from "../../src/domain/Failure.ts"
import { makeOpenPipes, Pipe } from "../../src/inference/Pipe.ts"
import type { StreamItem } from "../../src/domain/Answer.ts"

const piece = (text: string): StreamItem => ({ _tag: "Events", events: [{ _tag: "Text", text }] })
const last: StreamItem = { _tag: "Error", failure: failure({ _tag: "InternalError" }) }

const said = (item: StreamItem): string =>
  item._tag === "Events" ? item.events.map((event) => ("text" in event ? event.text : "")).join("") : item._tag

/** A reader that records the items of each delivery, and accepts more at once only while it is `eager`. */
const makeReader = (eager: boolean) => {
  const reader = { given: new Array<string>(), eager, more: () => {} }
  const take = (items: ReadonlyArray<StreamItem>, more: () => void) => {
    reader.given.push(items.map(said).join(","))
    reader.more = more
    return reader.eager
  }
  return Object.assign(reader, { take })
}

const begin = (pipe: Pipe, reader: ReturnType<typeof makeReader>) =>
  Effect.forkChild(pipe.read(reader.take), { startImmediately: true })

const fill = (pipe: Pipe): number => {
  let pushed = 1
  while (pipe.push(piece("x"))) pushed += 1
  return pushed
}

describe("Pipe", () => {
  it.effect("delivers waiting items together, then each item during its write, and ends with the last", () =>
    Effect.gen(function* () {
      const pipe = new Pipe()
      const reader = makeReader(true)
      assert.isTrue(pipe.push(piece("a")))
      pipe.push(piece("b"))
      const fiber = yield* begin(pipe, reader)
      assert.deepStrictEqual(reader.given, ["a,b"])
      pipe.push(piece("c"))
      assert.deepStrictEqual(reader.given, ["a,b", "c"])
      assert.isUndefined(fiber.pollUnsafe())
      assert.isFalse(pipe.ended)
      pipe.end(last)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(reader.given, ["a,b", "c", "Error"])
      assert.isTrue(pipe.ended)
    })
  )

  it.effect("buffers up to a limit for a slow reader, and then makes the writer wait", () =>
    Effect.gen(function* () {
      const pipe = new Pipe()
      const reader = makeReader(false)
      const fiber = yield* begin(pipe, reader)
      reader.more()
      pipe.push(piece("first"))
      assert.deepStrictEqual(reader.given, ["first"])
      assert.strictEqual(fill(pipe), 256)
      const writer = yield* Effect.forkChild(pipe.room, { startImmediately: true })
      assert.isUndefined(writer.pollUnsafe())
      reader.more()
      yield* Fiber.join(writer)
      assert.strictEqual(reader.given.at(-1)?.split(",").length, 256)
      pipe.push(piece("y"))
      pipe.end(last)
      assert.isUndefined(fiber.pollUnsafe())
      reader.more()
      yield* Fiber.join(fiber)
      assert.strictEqual(reader.given.at(-1), "y,Error")
    })
  )

  it.effect("treats a reader that reads nothing for a minute as disconnected", () =>
    Effect.gen(function* () {
      const pipe = new Pipe()
      const reader = makeReader(false)
      const fiber = yield* begin(pipe, reader)
      fill(pipe)
      const writer = yield* Effect.forkChild(pipe.room, { startImmediately: true })
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(writer.pollUnsafe())
      assert.isFalse(pipe.readerLeft)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(writer)
      assert.isTrue(pipe.readerLeft)
      assert.isTrue(Exit.hasDies(yield* Fiber.await(fiber)))
      const before = reader.given.length
      reader.more()
      assert.isTrue(pipe.push(piece("late")))
      assert.strictEqual(reader.given.length, before)
    })
  )

  it.effect("releases a waiting writer when the reader leaves", () =>
    Effect.gen(function* () {
      const pipe = new Pipe()
      fill(pipe)
      const writer = yield* Effect.forkChild(pipe.room, { startImmediately: true })
      pipe.leave()
      yield* Fiber.join(writer)
      assert.isTrue(pipe.push(piece("late")))
      yield* pipe.room
    })
  )

  it.effect("treats a reader that throws as disconnected", () =>
    Effect.gen(function* () {
      const pipe = new Pipe()
      const broken = new Error("broken")
      const fiber = yield* Effect.forkChild(
        pipe.read(() => {
          throw broken
        }),
        { startImmediately: true }
      )
      assert.isTrue(pipe.push(piece("a")))
      assert.isTrue(pipe.readerLeft)
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.die(broken))
    })
  )

  it.effect(
    "writes a comment after every ten seconds of silence, unless the reader is slow or the stream has ended",
    () =>
      Effect.gen(function* () {
        const open = yield* makeOpenPipes
        const [quick, slow] = [new Pipe(), new Pipe()]
        const [ready, busy] = [makeReader(true), makeReader(false)]
        for (const pipe of [quick, slow]) open.add(pipe)
        yield* begin(quick, ready)
        yield* begin(slow, busy)
        for (const pipe of [quick, slow]) pipe.push(piece("a"))
        yield* TestClock.adjust("9 seconds")
        quick.push(piece("b"))
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(ready.given, ["a", "b"])
        yield* TestClock.adjust("500 millis")
        assert.deepStrictEqual(ready.given, ["a", "b", "KeepAlive"])
        yield* TestClock.adjust("9500 millis")
        assert.strictEqual(ready.given.length, 3)
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(ready.given.length, 4)
        assert.deepStrictEqual(busy.given, ["a"])
        quick.end(last)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(ready.given.slice(4), ["Error"])
      }).pipe(Effect.scoped)
  )

  it.effect("opens a silent stream once, with a comment as its first item", () =>
    Effect.gen(function* () {
      const open = yield* makeOpenPipes
      const pipe = new Pipe()
      const reader = makeReader(true)
      let opened = 0
      pipe.onSilence(() => (opened += 1))
      open.add(pipe)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(opened, 0)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(opened, 1)
      yield* begin(pipe, reader)
      assert.deepStrictEqual(reader.given, ["KeepAlive"])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(reader.given, ["KeepAlive", "KeepAlive"])
      assert.strictEqual(opened, 1)
    }).pipe(Effect.scoped)
  )
})
