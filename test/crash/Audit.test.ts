import { assert, describe, it } from "@effect/vitest"
import { audit, costOf, rules } from "./Audit.ts"
import { QUESTION } from "./Dialects.ts"
import {
  type Ask,
  type Books,
  type Call,
  type Evidence,
  HOLD_TTL_MS,
  NO_TROUBLES,
  type Reading,
  type Receipt,
  type Seen,
  SHUTDOWN_DELAY_MS,
  type Try
} from "./Notes.ts"
import { plainAsk } from "./Workload.ts"

const price = { input: 150_000n, output: 600_000n }

const ask = plainAsk("a", "hot", { idempotencyKey: "key-a" })
const due = costOf(price, ask.reported ?? ask.atMost)
const content = ask.chunks.join("")

const receipt: Receipt = {
  id: "req_a",
  account: "hot",
  traceId: "trace-a",
  idempotencyKey: "key-a",
  status: "succeeded",
  basis: "reported",
  errorCode: undefined,
  held: 2n * due,
  settled: due,
  absorbed: 0n,
  refunded: 0n,
  progress: 0n,
  expiresAt: 9_000,
  closedAt: 1_950,
  price
}

const seen: Seen = {
  status: 200,
  requestId: "req_a",
  retryAfter: undefined,
  replayed: false,
  code: undefined,
  whole: true,
  content,
  contentAt: 1_900,
  answerId: "req_a",
  cost: due
}

const one: Try = {
  ask: "a",
  traceId: "trace-a",
  gateway: 0,
  startedAt: 1_000,
  endedAt: 2_000,
  ending: { _tag: "Answered", seen }
}

const call: Call = { ask: "a", host: "alpha", sent: 3, whole: true }
const books: Books = {
  name: "hot",
  credited: 1_000_000n,
  posted: 1_000_000n - due,
  held: 0n,
  open: 0,
  budget: { spent: due, limit: due + 1n, told: [80] },
  used: { requests: 1, cost: due }
}

const made = { id: "a", state: "completed", charged: 5n, cost: 5n, events: 1, delivered: 1 }
const videos: Evidence["videos"] = {
  handed: [
    { key: "video-0", status: undefined, id: undefined },
    { key: "video-0", status: 200, id: "a" }
  ],
  jobs: [made],
  told: [
    { event: "evt_a", verified: true, accepted: false, at: 20_000 },
    { event: "evt_a", verified: true, accepted: true, at: 25_000 }
  ],
  credited: 100n,
  posted: 95n
}

const reading: Reading = { gateway: 0, startedAt: 1_000, endedAt: 1_100, status: 200, retryAfter: undefined }

const kept: Evidence = {
  asks: [ask],
  tries: [one],
  readings: [reading],
  calls: [call],
  receipts: [receipt],
  books: [books],
  videos,
  outages: [{ from: 5_000, to: 6_000 }],
  slows: [],
  gateways: [NO_TROUBLES, NO_TROUBLES],
  faults: []
}

const answered = (more: Partial<Seen>): Evidence["tries"] => [
  { ...one, ending: { _tag: "Answered", seen: { ...seen, ...more } } }
]

const failed = { whole: false, content: "", answerId: undefined, cost: undefined }

const nothingDone = {
  receipts: [],
  books: [{ ...books, posted: books.credited, used: { requests: 0, cost: 0n } }],
  calls: []
}

const other: Receipt = { ...receipt, id: "req_b", traceId: "trace-b" }
const again: Try = { ...one, traceId: "trace-b", gateway: 1 }

const withReceipt = (more: Partial<Receipt>) => ({ receipts: [{ ...receipt, ...more }] })

const withAsk = (more: Partial<Ask>) => ({ asks: [{ ...ask, ...more }] })

/** A client that hung up in the midst of an answer, and was given it. */
const unpaidPart = {
  ...withReceipt({ status: "cancelled", basis: "none", settled: 0n }),
  books: [{ ...books, posted: books.credited, used: { requests: 1, cost: 0n } }],
  tries: [{ ...one, ending: { _tag: "Cut", seen: { ...seen, ...failed, content: "ship " } } as const }],
  calls: [{ ...call, whole: false }],
  outages: []
}

/** For every rule, evidence in which just what it promises is broken. Some breaches break a second promise by their nature. */
const planted: Readonly<Record<keyof typeof rules, Partial<Evidence>>> = {
  "credits less what receipts settled are the balances": { books: [{ ...books, posted: books.posted - 1n }] },
  "no account spends more than it has": { books: [{ ...books, credited: due - 1n, posted: -1n }] },
  "the use that is told is what the receipts come to": { books: [{ ...books, used: { requests: 1, cost: due - 1n } }] },
  "no hold stands when all is over": { books: [{ ...books, held: 5n, open: 1 }] },
  "an overdue hold ends with the next sweep": withReceipt({
    status: "failed",
    errorCode: "request_expired",
    closedAt: 14_000
  }),
  "a threshold of a budget is told, once": { books: [{ ...books, budget: { ...books.budget, told: [80, 80] } }] },
  "what was delivered whole is paid for": withReceipt({ status: "cancelled", settled: 0n }),
  "what was delivered in part is paid for": unpaidPart,
  "what was delivered whole is what was made": { tries: answered({ content: "sea ship " }) },
  "answer and receipt say the same cost": { tries: answered({ cost: due + 1n }) },
  "a success costs what its provider reported": withReceipt({ settled: due - 1n }),
  "no charge beyond the hold or what was used": withReceipt({ held: due - 1n }),
  "what its process left behind costs what it had recorded": withReceipt({
    status: "failed",
    errorCode: "request_expired",
    progress: due + 1n
  }),
  "no idempotency key is charged twice": { receipts: [receipt, other], tries: [one, again] },
  "no request has two receipts": { receipts: [receipt, { ...other, traceId: "trace-a" }] },
  "all answers under one key are equal": {
    tries: [one, { ...again, ending: { _tag: "Answered", seen: { ...seen, answerId: "req_b" } } }],
    receipts: [receipt, other]
  },
  "what failed is free": { tries: answered({ ...failed, status: 503, code: "store_unavailable", retryAfter: "2" }) },
  "every receipt was asked for": withReceipt({ traceId: undefined }),
  "nothing is served that no provider sent": { calls: [{ ...call, whole: false }] },
  "only decided failures": { ...nothingDone, tries: answered({ ...failed, status: 401, code: "invalid_api_key" }) },
  "hosts that answer are asked": {
    ...nothingDone,
    outages: [],
    tries: answered({ ...failed, status: 503, code: "no_provider_available", retryAfter: "2" })
  },
  "a 503 says when to come back": {
    ...nothingDone,
    tries: answered({ ...failed, status: 503, code: "store_unavailable" })
  },
  "readers see their receipts, or a 503": { readings: [{ ...reading, status: 401 }] },
  "every request ends": { ...nothingDone, tries: [{ ...one, ending: { _tag: "Silent" } }] },
  "every answer has its end while its gateway lives": {
    ...nothingDone,
    tries: [{ ...one, ending: { _tag: "Lost", seen: undefined } }],
    gateways: [NO_TROUBLES, { ...NO_TROUBLES, deaths: [{ from: 1_500, to: 1_600 }] }]
  },
  "nothing is given after the end of a hold": {
    ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
    tries: [
      {
        ...one,
        endedAt: 30_000,
        ending: { _tag: "Answered", seen: { ...seen, whole: false, code: "request_expired", contentAt: 20_000 } }
      }
    ],
    gateways: [{ ...NO_TROUBLES, partitions: [{ from: 1_500, to: 29_000 }] }, NO_TROUBLES]
  },
  "a gateway that is told to stop ends by itself": {
    gateways: [{ ...NO_TROUBLES, deploys: [{ from: 3_000, to: 4_000, exit: "SIGKILL" }] }, NO_TROUBLES]
  },
  "every video ends with one event, delivered": { videos: { ...videos, jobs: [{ ...made, delivered: 0 }] } },
  "what is delivered was heard, with a signature that is right": {
    videos: { ...videos, told: videos.told.slice(0, 1) }
  },
  "what was accepted is not sent again": {
    videos: { ...videos, told: [...videos.told, { event: "evt_a", verified: true, accepted: true, at: 30_000 }] }
  },
  "videos cost what their state says": { videos: { ...videos, jobs: [{ ...made, state: "failed" }] } },
  "no video is sold twice": {
    videos: { ...videos, handed: [...videos.handed, { key: "video-0", status: 200, id: "b" }] }
  },
  "ledger verify": { faults: ["nothing_negative: 1 of 3 rows"] }
}

const broken = (evidence: Partial<Evidence>) => new Set(audit({ ...kept, ...evidence }).map(({ rule }) => rule))

describe("the auditor", () => {
  it("finds nothing where every promise was kept", () => assert.deepStrictEqual(audit(kept), []))

  it.each(Object.keys(rules))("catches a breach of: %s", (rule) => {
    const evidence = planted[rule]
    assert.isDefined(evidence, `plant a breach of "${rule}"`)
    assert.isTrue(broken(evidence ?? {}).has(rule))
  })

  it("knows whose failure an upstream's is", () => {
    const tries = answered({ ...failed, status: 502, code: "upstream_error" })
    const free = { tries, ...nothingDone }
    assert.isTrue(broken(free).has("only decided failures"))
    const bad = { _tag: "Status", status: 500 } as const
    assert.deepStrictEqual([...broken({ ...free, ...withAsk({ behaviour: { alpha: bad, beta: bad } }) })], [])
  })

  it("takes 429 only where a host limits the rate", () => {
    const tries = answered({ ...failed, status: 429, code: "rate_limit_exceeded" })
    assert.isTrue(broken({ tries, ...nothingDone }).has("only decided failures"))
    const bad = { _tag: "Status", status: 429 } as const
    assert.deepStrictEqual(
      [...broken({ tries, ...nothingDone, ...withAsk({ behaviour: { alpha: bad, beta: bad } }) })],
      []
    )
  })

  it("lets the poor be refused, and nobody else", () => {
    const tries = answered({ ...failed, status: 402, code: "insufficient_credits" })
    assert.isTrue(broken({ tries, ...nothingDone }).has("only decided failures"))
    assert.deepStrictEqual([...broken({ tries, ...nothingDone, ...withAsk({ account: "poor" }) })], [])
  })

  it("bears a whole answer unpaid only where its hold ran out while the database was away", () => {
    const expired = {
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
      books: [{ ...books, posted: books.credited, used: { requests: 1, cost: 0n } }],
      tries: answered({ cost: 0n })
    }
    const rule = "what was delivered whole is paid for"
    const long = HOLD_TTL_MS
    const away = (from: number, to: number) => broken({ ...expired, outages: [{ from, to }] }).has(rule)
    assert.deepStrictEqual([...broken(expired)], [rule])
    assert.deepStrictEqual([...broken({ ...expired, outages: [{ from: 1_500, to: 1_500 + long }] })], [])
    // Most of the life of a hold is left after it.
    assert.isTrue(away(1_500, 1_600))
    // A hold that is taken after it is renewed.
    assert.isTrue(away(900 - 2 * long, 900 - long))
    const twice = { ...NO_TROUBLES, pauses: [{ from: 1_500, to: 3_500 }], partitions: [{ from: 4_000, to: 6_000 }] }
    assert.deepStrictEqual([...broken({ ...expired, outages: [], gateways: [twice, NO_TROUBLES] })], [])
  })

  it("bears a hold that ran out while its gateway answered nothing, and not while it answered others", () => {
    const code = "request_expired"
    const expired: Try = { ...one, endedAt: 12_000, ending: { _tag: "Answered", seen: { ...seen, ...failed, code } } }
    const others = Array.from({ length: 8 }, (_, number): Try => ({ ...again, traceId: `${number}`, gateway: 0 }))
    const still = (endedAt: number) => others.map((other) => ({ ...other, startedAt: 1_000, endedAt }))
    const rule = "only decided failures"
    const away = { ...nothingDone, outages: [] }
    const first = { ...again, gateway: 0, startedAt: 900, endedAt: 1_100 }
    assert.isFalse(broken({ ...away, tries: [first, expired, ...still(9_000)] }).has(rule))
    const served = others.map((other, number) => ({ ...other, startedAt: 1_000, endedAt: 1_500 + 1_000 * number }))
    assert.isTrue(broken({ ...away, tries: [first, expired, ...served] }).has(rule))
  })

  it("bears the part of an answer unpaid only where it was left to expire by who was to settle it", () => {
    const rule = "what was delivered in part is paid for"
    const away = [{ from: one.endedAt + 500, to: one.endedAt + 500 + HOLD_TTL_MS }]
    const died = { ...NO_TROUBLES, deaths: away }
    const before = { ...NO_TROUBLES, deaths: [{ from: 500, to: 900 }] }
    for (const times of [{}, { gateways: [died, NO_TROUBLES] }, { outages: away }]) {
      assert.deepStrictEqual([...broken({ ...unpaidPart, ...times })], [rule])
    }
    const left = { ...unpaidPart, ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n }) }
    assert.deepStrictEqual([...broken({ ...left, gateways: [NO_TROUBLES, died] })], [rule])
    assert.deepStrictEqual([...broken({ ...left, gateways: [before, NO_TROUBLES] })], [rule])
    for (const times of [{ gateways: [died, NO_TROUBLES] }, { outages: away }]) {
      assert.deepStrictEqual([...broken({ ...left, ...times })], [])
    }
  })

  it("lets an answer go on after a short partition until its gateway dies, and not after the hold's own end", () => {
    const rule = "nothing is given after the end of a hold"
    const diedWith = (expiresAt: number) => ({
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, expiresAt }),
      tries: [
        {
          ...one,
          endedAt: 20_000,
          ending: { _tag: "Lost", seen: { ...seen, whole: false, contentAt: 19_500 } } as const
        }
      ],
      gateways: [
        { ...NO_TROUBLES, partitions: [{ from: 1_500, to: 3_500 }], deaths: [{ from: 19_900, to: 21_000 }] },
        NO_TROUBLES
      ]
    })
    assert.isFalse(broken(diedWith(26_000)).has(rule))
    assert.isTrue(broken(diedWith(9_500)).has(rule))
  })

  it("lets the rest of a whole answer come late only when its settle waited for the database", () => {
    const rule = "nothing is given after the end of a hold"
    const until = (to: number) => ({
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
      tries: [{ ...one, endedAt: 30_000, ending: { _tag: "Answered", seen: { ...seen, contentAt: 29_500 } } as const }],
      gateways: [{ ...NO_TROUBLES, partitions: [{ from: 1_500, to }] }, NO_TROUBLES]
    })
    assert.isTrue(broken(until(15_000)).has(rule))
    assert.isFalse(broken(until(29_000)).has(rule))
  })

  it("lets the database be unavailable only while it is", () => {
    const tries = answered({ ...failed, status: 503, code: "store_unavailable", retryAfter: "2" })
    assert.deepStrictEqual([...broken({ tries, ...nothingDone, outages: [] })], ["only decided failures"])
    assert.deepStrictEqual([...broken({ tries, ...nothingDone, outages: [{ from: 1_500, to: 1_600 }] })], [])
  })

  it("lets an answer break off only with its gateway", () => {
    const lost = { ...nothingDone, tries: [{ ...one, ending: { _tag: "Lost", seen: undefined } as const }] }
    assert.deepStrictEqual(
      [...broken({ ...lost, gateways: [{ ...NO_TROUBLES, deaths: [{ from: 1_500, to: 1_600 }] }, NO_TROUBLES] })],
      []
    )
    const rule = "every answer has its end while its gateway lives"
    assert.deepStrictEqual([...broken({ ...nothingDone, tries: answered(failed) })], [rule])
  })

  it("lets a connection break off only when its gateway has served out its delay", () => {
    const lost = { ...nothingDone, tries: [{ ...one, ending: { _tag: "Lost", seen: undefined } as const }] }
    const deployed = (from: number) => ({
      gateways: [{ ...NO_TROUBLES, deploys: [{ from, to: from + 5_000, exit: 0 }] }, NO_TROUBLES]
    })
    const rule = "every answer has its end while its gateway lives"
    assert.deepStrictEqual([...broken({ ...lost, ...deployed(one.startedAt - SHUTDOWN_DELAY_MS) })], [])
    assert.deepStrictEqual([...broken({ ...lost, ...deployed(one.startedAt - SHUTDOWN_DELAY_MS / 2) })], [rule])
  })

  it("finds a client that pays for less of an answer than it was given", () => {
    const rule = "what was delivered in part is paid for"
    const paying = (settled: bigint, content: string) => ({
      ...unpaidPart,
      ...withReceipt({ status: "cancelled", basis: "counted", settled }),
      books: [{ ...books, posted: books.credited - settled, used: { requests: 1, cost: settled } }],
      tries: [{ ...one, ending: { _tag: "Cut", seen: { ...seen, ...failed, content } } as const }]
    })
    const least = costOf(price, { prompt: QUESTION.split(" ").length, completion: 2 })
    assert.deepStrictEqual([...broken(paying(least, "sea ship "))], [])
    assert.deepStrictEqual([...broken(paying(least, "sea ship salt "))], [rule])
  })

  it("finds a part that is charged like the whole", () => {
    const rule = "no charge beyond the hold or what was used"
    const charged = withReceipt({ status: "cancelled", basis: "counted" })
    assert.isFalse(broken(charged).has(rule))
    assert.isTrue(broken({ ...charged, calls: [{ ...call, sent: 1, whole: false }] }).has(rule))
  })

  it("lets a key be taken only while another try may have it", () => {
    const code = "idempotency_request_in_progress"
    const taken: Try = { ...again, ending: { _tag: "Answered", seen: { ...seen, ...failed, status: 409, code } } }
    const rule = "only decided failures"
    assert.deepStrictEqual([...broken({ ...nothingDone, tries: [taken] })], [rule])
    assert.isFalse(broken({ tries: [one, taken] }).has(rule))
    const late = { ...taken, startedAt: one.endedAt + 60_000, endedAt: one.endedAt + 60_100 }
    assert.isTrue(broken({ tries: [one, late] }).has(rule))
  })

  it("lets an answer be gone only where none could be kept", () => {
    const code = "idempotency_result_unavailable"
    const gone: Try = { ...again, ending: { _tag: "Answered", seen: { ...seen, ...failed, status: 409, code } } }
    const rule = "only decided failures"
    assert.isTrue(broken({ tries: [one, gone] }).has(rule))
    assert.isFalse(
      broken({ tries: [gone], ...withReceipt({ status: "failed", errorCode: "request_expired" }) }).has(rule)
    )
  })

  it("bears a reader's 503 only while the database is away", () => {
    const refused = { ...reading, status: 503, retryAfter: "2" }
    assert.deepStrictEqual([...broken({ readings: [refused], outages: [{ from: 500, to: 600 }] })], [])
    assert.deepStrictEqual([...broken({ readings: [refused], outages: [] })], ["readers see their receipts, or a 503"])
  })

  it("lets a hold stand longer only while no gateway can sweep", () => {
    const rule = "an overdue hold ends with the next sweep"
    const late = withReceipt({ status: "failed", errorCode: "request_expired", closedAt: 14_000 })
    const away = { ...NO_TROUBLES, pauses: [{ from: 8_000, to: 13_000 }] }
    assert.isTrue(broken({ ...late, gateways: [away, NO_TROUBLES] }).has(rule))
    assert.isFalse(broken({ ...late, gateways: [away, away] }).has(rule))
    assert.isFalse(broken({ ...late, outages: [{ from: 8_000, to: 13_000 }] }).has(rule))
  })

  it("bears a message that is sent again where its acceptance could not be noted", () => {
    const told = [...videos.told, { event: "evt_a", verified: true, accepted: true, at: 30_000 }]
    const died = { ...NO_TROUBLES, deaths: [{ from: 25_100, to: 27_000 }] }
    assert.deepStrictEqual([...broken({ videos: { ...videos, told }, gateways: [NO_TROUBLES, died] })], [])
  })

  it("does not take a charge for more than was used", () => {
    const dear = costOf(price, { ...ask.atMost, completion: ask.atMost.completion + 1 })
    const cut = { status: "cancelled", basis: "counted", settled: dear, held: 10n * dear }
    assert.isTrue(broken(withReceipt(cut)).has("no charge beyond the hold or what was used"))
  })
})
