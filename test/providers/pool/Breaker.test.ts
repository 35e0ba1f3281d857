import { assert, describe, it } from "@effect/vitest"
import { Breaker, type BreakerState, type FailureDetails, rules } from "../../../src/providers/pool/Breaker.ts"
import { Random } from "../../ledger/Random.ts"

/** A permit that must have been granted. */
const permitted = (permit: number | undefined): number => {
  assert.isDefined(permit)
  return permit
}

/** A breaker that consecutive failures opened at this time. */
const opened = (now = 0) => {
  const breaker = new Breaker()
  for (let failure = 0; failure < rules.consecutive; failure++) breaker.failed(permitted(breaker.admit(now)), now, 0)
  assert.strictEqual(breaker.state, "open")
  return breaker
}

describe("a breaker", () => {
  it("opens after consecutive failures, which a success resets", () => {
    const breaker = new Breaker()
    const fail = () => breaker.failed(permitted(breaker.admit(0)), 0, 0)
    for (let failure = 1; failure < rules.consecutive; failure++) fail()
    breaker.succeeded(permitted(breaker.admit(0)), 0)
    for (let failure = 1; failure < rules.consecutive; failure++) fail()
    assert.strictEqual(breaker.state, "closed")
    fail()
    assert.strictEqual(breaker.state, "open")
    assert.isUndefined(breaker.admit(rules.firstOpenMs - 1))
  })

  it("counts failures of single requests only in the failure ratio", () => {
    const breaker = new Breaker()
    const fail = () => breaker.failed(permitted(breaker.admit(0)), 0, 0, { inShareOnly: true })
    for (let failure = 1; failure < rules.minimumSamples; failure++) fail()
    assert.strictEqual(breaker.state, "closed")
    fail()
    assert.strictEqual(breaker.state, "open")
  })

  it("opens when half of a minimum number of attempts fail within a moving window", () => {
    const alternating = (samples: number, everyMs: number) => {
      const breaker = new Breaker()
      for (let sample = 0; sample < samples && breaker.state === "closed"; sample++) {
        const [now, permit] = [sample * everyMs, permitted(breaker.admit(sample * everyMs))]
        if (sample % 2 === 0) breaker.succeeded(permit, now)
        else breaker.failed(permit, now, 0)
      }
      return breaker.state
    }
    assert.strictEqual(alternating(rules.minimumSamples - 1, 1), "closed")
    assert.strictEqual(alternating(rules.minimumSamples, 1), "open")
    assert.strictEqual(alternating(1_000, (2 * rules.windowMs) / (rules.minimumSamples - 2)), "closed")
  })

  it("admits one probe at a time: success closes it, failure doubles the open time", () => {
    const breaker = opened()
    const first = permitted(breaker.admit(rules.firstOpenMs))
    assert.strictEqual(breaker.state, "half_open")
    assert.isUndefined(breaker.admit(rules.firstOpenMs))
    breaker.failed(first, rules.firstOpenMs, 0)
    assert.isUndefined(breaker.admit(3 * rules.firstOpenMs - 1))
    const second = permitted(breaker.admit(3 * rules.firstOpenMs))
    breaker.answered(second, 3 * rules.firstOpenMs)
    assert.strictEqual(breaker.state, "closed")
  })

  it("frees the slot of an abandoned or silent probe", () => {
    const breaker = opened()
    breaker.abandoned(permitted(breaker.admit(rules.firstOpenMs)))
    assert.isDefined(breaker.admit(rules.firstOpenMs))
    assert.isUndefined(breaker.admit(rules.firstOpenMs + rules.probePatienceMs - 1))
    assert.isDefined(breaker.admit(rules.firstOpenMs + rules.probePatienceMs))
  })

  it("opens longer each time up to a maximum, with jitter, and resets after a long closed time", () => {
    const times = (chance: number) => {
      const breaker = opened()
      let now: number = rules.firstOpenMs
      let probe = breaker.admit(now)
      return Array.from({ length: 8 }, () => {
        const since = now
        breaker.failed(permitted(probe), now, chance)
        for (probe = undefined; probe === undefined; probe = breaker.admit(now)) now += 500
        return now - since
      })
    }
    const doubled = [2, 4, 8, 16, 30, 30, 30, 30].map((many) => many * rules.firstOpenMs)
    assert.deepStrictEqual(times(0), doubled)
    assert.deepStrictEqual(
      times(1),
      doubled.map((ms) => ms * (1 - rules.jitter))
    )
    const breaker = opened()
    let now: number = rules.firstOpenMs
    const close = () => breaker.answered(permitted(breaker.admit(now)), now)
    for (const [calm, openMs] of [
      [rules.stableMs - 1, 2 * rules.firstOpenMs],
      [rules.stableMs, rules.firstOpenMs]
    ] as const) {
      close()
      now += calm
      for (let failure = 0; failure < rules.consecutive; failure++)
        breaker.failed(permitted(breaker.admit(now)), now, 0)
      assert.isUndefined(breaker.admit(now + openMs - 1))
      now += openMs
    }
    close()
    assert.strictEqual(breaker.state, "closed")
  })

  it("opens at once for a pause that the host requests, and admits no attempt before its end", () => {
    const breaker = new Breaker()
    breaker.failed(permitted(breaker.admit(0)), 0, 0, { pauseMs: 3_500 })
    assert.strictEqual(breaker.availableAt(), 3_500)
    assert.deepStrictEqual([breaker.admit(3_499), breaker.admitEarly(3_499)], [undefined, undefined])
    assert.isDefined(breaker.admitEarly(3_500))
    const believed = new Breaker()
    believed.failed(permitted(believed.admit(0)), 0, 0, { pauseMs: 1e12 })
    assert.isDefined(believed.admit(rules.longestPauseMs))
  })

  it("applies a pause reported by an attempt from before its opening", () => {
    const breaker = new Breaker()
    const early = permitted(breaker.admit(0))
    for (let failure = 0; failure < rules.consecutive; failure++) breaker.failed(permitted(breaker.admit(0)), 0, 0)
    breaker.failed(early, 10, 0, { pauseMs: 30_000 })
    assert.isUndefined(breaker.admitEarly(30_009))
    assert.isDefined(breaker.admit(30_010))
  })

  it("opens at once for the longest time after a final failure, and allows early probes", () => {
    const breaker = new Breaker()
    breaker.failed(permitted(breaker.admit(0)), 0, 0, { atOnce: true })
    assert.isUndefined(breaker.admit(rules.longestOpenMs - 1))
    assert.isUndefined(breaker.admitEarly(rules.earlyProbeMs - 1))
    assert.isDefined(breaker.admitEarly(rules.earlyProbeMs))
    assert.isUndefined(breaker.admitEarly(2 * rules.earlyProbeMs - 1))
    assert.isDefined(breaker.admitEarly(2 * rules.earlyProbeMs))
  })

  it("opens at least as long as another node's breaker, and shares only its own openings", () => {
    const told: Array<unknown> = []
    const breaker = new Breaker(undefined, (opening) => told.push(opening))
    const early = permitted(breaker.admit(0))
    breaker.openUntil(10, 10, false)
    assert.strictEqual(breaker.state, "closed")
    breaker.openUntil(0, 3_000, false)
    breaker.openUntil(0, 2_000, false)
    breaker.succeeded(early, 10)
    assert.isUndefined(breaker.admit(2_999))
    breaker.answered(permitted(breaker.admitEarly(rules.earlyProbeMs)), rules.earlyProbeMs)
    assert.strictEqual(breaker.state, "closed")
    breaker.openUntil(2_000, 9_000, true)
    assert.isUndefined(breaker.admitEarly(8_999))
    const probe = permitted(breaker.admit(9_000))
    breaker.openUntil(9_000, 12_000, false)
    assert.strictEqual(breaker.state, "half_open")
    assert.lengthOf(told, 0)
    breaker.failed(probe, 9_000, 0, { pauseMs: 1_000 })
    assert.deepStrictEqual(told, [{ until: 9_000 + rules.firstOpenMs, pausedUntil: 10_000 }])
    breaker.failed(probe, 9_500, 0, { pauseMs: 9_500 })
    assert.deepStrictEqual(told[1], { until: 19_000, pausedUntil: 19_000 })
    const last = permitted(breaker.admit(19_000))
    breaker.openUntil(19_000, 30_000, true)
    assert.strictEqual(breaker.state, "open")
    breaker.answered(last, 19_000)
    assert.isUndefined(breaker.admitEarly(29_999))
  })

  it("ignores outcomes of attempts from before its opening", () => {
    const breaker = new Breaker()
    const early = permitted(breaker.admit(0))
    for (let failure = 0; failure < rules.consecutive; failure++) breaker.failed(permitted(breaker.admit(0)), 0, 0)
    breaker.succeeded(early, 1)
    assert.strictEqual(breaker.state, "open")
    const probe = permitted(breaker.admit(rules.firstOpenMs))
    breaker.failed(early, rules.firstOpenMs, 0)
    breaker.abandoned(early)
    assert.strictEqual(breaker.state, "half_open")
    breaker.answered(probe, rules.firstOpenMs)
    breaker.succeeded(probe, rules.firstOpenMs)
    assert.strictEqual(breaker.state, "closed")
  })
})

/** The model: a list of all attempts that ended since it closed, and the times that follow from it. */
class Model {
  state: BreakerState = "closed"
  epoch = 0
  ended: Array<{ readonly at: number; readonly failed: boolean }> = []
  row = 0
  dueAt = 0
  pausedUntil = 0
  triedAt = 0
  openings = 0
  closedAt = -1e9

  admit(now: number, early: boolean): boolean {
    if (this.state === "closed") return true
    const due = this.state === "open" ? this.dueAt : this.triedAt + rules.probePatienceMs
    const from = early ? Math.max(this.pausedUntil, Math.min(due, this.triedAt + rules.earlyProbeMs)) : due
    if (now < from) return false
    this.state = "half_open"
    this.triedAt = now
    return true
  }

  end(epoch: number, now: number, how: FailureDetails | "ok" | "abandoned"): void {
    const own = epoch === this.epoch
    if (how === "ok") {
      if (own && this.state === "half_open") this.#close(now)
      else if (own) {
        this.row = 0
        this.ended.push({ at: now, failed: false })
      }
    } else if (how === "abandoned") {
      if (own && this.state === "half_open") this.state = "open"
    } else this.#fail(own, now, how)
  }

  news(now: number, until: number, paused: boolean): void {
    const due = this.state === "closed" ? until : Math.max(this.dueAt, until)
    if (paused) this.pausedUntil = Math.max(this.pausedUntil, until)
    if (this.state === "closed" || (this.state === "half_open" && paused)) this.#open(now, due - now)
    else this.dueAt = due
  }

  #fail(own: boolean, now: number, { atOnce = false, pauseMs = 0 }: FailureDetails): void {
    this.pausedUntil = Math.max(this.pausedUntil, pauseMs === 0 ? 0 : now + pauseMs)
    if (this.state === "open") {
      this.dueAt = Math.max(this.dueAt, this.pausedUntil)
      return
    }
    const probe = own && this.state === "half_open"
    if (own) {
      this.row += 1
      this.ended.push({ at: now, failed: true })
    }
    const slot = Math.floor(now / rules.windowMs)
    const recent = this.ended.filter(({ at }) => slot - Math.floor(at / rules.windowMs) <= 1)
    const share = recent.filter(({ failed }) => failed).length / recent.length
    const failing = this.row >= rules.consecutive || (recent.length >= rules.minimumSamples && share >= 0.5)
    const opens = probe || (own && (atOnce || failing))
    if (!opens && pauseMs === 0) return
    if (this.state === "closed" && now - this.closedAt >= rules.stableMs) this.openings = 0
    if (pauseMs > 0 && !probe) this.#open(now, 0)
    else {
      this.#open(now, atOnce ? rules.longestOpenMs : Math.min(60_000, 2_000 * 2 ** this.openings))
      this.openings += 1
    }
  }

  #open(now: number, ms: number): void {
    Object.assign(this, { state: "open", dueAt: Math.max(now + ms, this.pausedUntil), triedAt: now })
    this.epoch += 1
  }

  #close(now: number): void {
    Object.assign(this, { state: "closed", closedAt: now, row: 0, ended: [] })
    this.epoch += 1
  }
}

describe("a random history of a breaker", () => {
  const seed = Number(process.env["BREAKER_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
  it(`matches the model (BREAKER_SEED=${seed})`, () => {
    const random = new Random(seed)
    const met = new Set<string>()
    for (let history = 0; history < 200; history++) {
      const [breaker, model] = [new Breaker((state) => met.add(state)), new Model()]
      const running: Array<{ readonly permit: number; readonly epoch: number }> = []
      const failures = random.pick([0.1, 0.5, 0.9])
      let now = 0
      for (let step = 0; step < 300; step++) {
        now += random.pick([0, 1, 100, 1_000, 1_000, 20_000])
        if (random.chance(0.05)) {
          const [until, paused] = [now + random.pick([500, 5_000, 30_000]), random.chance(0.3)]
          breaker.openUntil(now, until, paused)
          model.news(now, until, paused)
        } else if (running.length === 0 || random.chance(0.5)) {
          const early = random.chance(0.2)
          const permit = early ? breaker.admitEarly(now) : breaker.admit(now)
          assert.strictEqual(permit !== undefined, model.admit(now, early), `step ${step}`)
          if (permit !== undefined) running.push({ permit, epoch: model.epoch })
        } else {
          const [{ epoch, permit } = { epoch: 0, permit: 0 }] = running.splice(random.below(running.length), 1)
          const how = random.chance(failures)
            ? random.pick<FailureDetails | "abandoned">([
                {},
                {},
                {},
                {},
                { pauseMs: 7_000 },
                { atOnce: true },
                "abandoned"
              ])
            : "ok"
          if (how === "ok") breaker.succeeded(permit, now)
          else if (how === "abandoned") breaker.abandoned(permit)
          else breaker.failed(permit, now, 0, how)
          model.end(epoch, now, how)
        }
        assert.strictEqual(breaker.state, model.state, `step ${step}`)
        if (model.state !== "closed") assert.isAtLeast(breaker.availableAt(), model.pausedUntil)
      }
    }
    assert.sameMembers([...met], ["open", "half_open", "closed"])
  })
})
