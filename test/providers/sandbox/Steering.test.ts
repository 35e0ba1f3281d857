import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseSteering, type Steering } from "../../../src/providers/sandbox/Steering.ts"

const problems = (header: string) => {
  const result = parseSteering(header)
  return Result.isFailure(result) ? result.failure : []
}

describe("parseSteering", () => {
  const noSteering = Result.getOrThrow(parseSteering(""))

  const good: ReadonlyArray<readonly [string, Partial<Steering>]> = [
    ["  ", {}],
    ...(
      ["slow", "stall", "break", "empty", "rate_limit", "error", "malformed", "wrong_usage", "no_usage"] as const
    ).map((fault) => [`fault=${fault}`, { fault }] as const),
    ["after=0", { after: 0 }],
    ["provider=open-ai_2.x", { provider: "open-ai_2.x" }],
    ["latency_ms=600000", { latencyMs: 600_000 }],
    ["chunk_ms=5", { chunkMs: 5 }],
    ["output_tokens=10000000", { outputTokens: 10_000_000 }],
    ["cached_tokens=1", { cachedTokens: 1 }],
    ["reasoning_tokens=2", { reasoningTokens: 2 }],
    ["images=1", { images: 1 }],
    ["usage=held", { usageHeld: true }],
    ["text=", { text: "" }],
    ["text=a%2Cb%3Dc=d%20%F0%9F%98%80", { text: "a,b=c=d 😀" }],
    [" fault = break , after=3,provider=x ", { fault: "break", after: 3, provider: "x" }]
  ]
  for (const [header, steering] of good) {
    it(`reads "${header}"`, () => {
      assert.deepStrictEqual(parseSteering(header), Result.succeed({ ...noSteering, ...steering }))
    })
  }

  const bad: ReadonlyArray<readonly [string, RegExp]> = [
    ["fault", /key=value/],
    ["fault=", /fault.*one of slow/],
    ["fault=Slow", /one of slow/],
    ["speed=1", /"speed" is not a key; the keys are fault, after/],
    ["=1", /"" is not a key/],
    ["fault=slow,", /key=value/],
    ["fault=slow,fault=slow", /given twice/],
    ["after=-1", /whole number from 0 to 10000000/],
    ["after=1.5", /whole number/],
    ["after=", /whole number/],
    ["after=1e3", /whole number/],
    ["latency_ms=600001", /0 to 600000/],
    ["output_tokens=99999999", /0 to 10000000/],
    ["provider=", /provider's id/],
    ["provider=a b", /provider's id/],
    ["usage=free", /must be held/],
    ["text=%zz", /URL-encoded/]
  ]
  for (const [header, message] of bad) {
    it(`rejects "${header}"`, () => {
      const found = problems(header)
      assert.deepStrictEqual(
        found.map((problem) => problem.field),
        ["X-Svc-Sandbox"]
      )
      assert.match(found[0]?.message ?? "", message)
    })
  }

  it("names every problem", () => {
    assert.lengthOf(problems("after=x,speed=1,fault=slow,text=%"), 3)
  })
})
