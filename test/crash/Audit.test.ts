import { assert, describe, it } from "@effect/vitest"
import { audit, costOf, rules } from "./Audit.ts"
import { QUESTION } from "./Dialects.ts"
import {
  type AccountState,
  type Attempt,
  type Call,
  type ClientAnswer,
  type Evidence,
  HOLD_TTL_MS,
  NO_OUTAGES,
  type Operation,
  type Receipt,
  type ReceiptsRead,
  SHUTDOWN_DELAY_MS
} from "./Evidence.ts"
import { plainOperation } from "./Workload.ts"

const price = { input: 150_000n, output: 600_000n }

const operation = plainOperation("a", "hot", { idempotencyKey: "key-a" })
const due = costOf(price, operation.reported ?? operation.atMost)
const content = operation.chunks.join("")

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

const answer: ClientAnswer = {
  status: 200,
  requestId: "req_a",
  retryAfter: undefined,
  replayed: false,
  code: undefined,
  complete: true,
  content,
  contentAt: 1_900,
  answerId: "req_a",
  cost: due
}

const attempt: Attempt = {
  operation: "a",
  traceId: "trace-a",
  gateway: 0,
  startedAt: 1_000,
  endedAt: 2_000,
  outcome: { _tag: "Answered", answer }
}

const call: Call = { operation: "a", host: "alpha", sent: 3, complete: true }
const account: AccountState = {
  name: "hot",
  credited: 1_000_000n,
  posted: 1_000_000n - due,
  held: 0n,
  open: 0,
  budget: { spent: due, limit: due + 1n, notified: [80] },
  usage: { requests: 1, cost: due }
}

const job = { id: "a", state: "completed", charged: 5n, cost: 5n, events: 1, delivered: 1 }
const videos: Evidence["videos"] = {
  submissions: [
    { key: "video-0", status: undefined, id: undefined },
    { key: "video-0", status: 200, id: "a" }
  ],
  jobs: [job],
  webhooks: [
    { event: "evt_a", verified: true, accepted: false, at: 20_000 },
    { event: "evt_a", verified: true, accepted: true, at: 25_000 }
  ],
  credited: 100n,
  posted: 95n
}

const read: ReceiptsRead = { gateway: 0, startedAt: 1_000, endedAt: 1_100, status: 200, retryAfter: undefined }

const flawless: Evidence = {
  operations: [operation],
  attempts: [attempt],
  receiptReads: [read],
  calls: [call],
  receipts: [receipt],
  accounts: [account],
  videos,
  outages: [{ from: 5_000, to: 6_000 }],
  slows: [],
  gateways: [NO_OUTAGES, NO_OUTAGES],
  failedChecks: []
}

const answered = (more: Partial<ClientAnswer>): Evidence["attempts"] => [
  { ...attempt, outcome: { _tag: "Answered", answer: { ...answer, ...more } } }
]

const failed = { complete: false, content: "", answerId: undefined, cost: undefined }

const nothingCharged = {
  receipts: [],
  accounts: [{ ...account, posted: account.credited, usage: { requests: 0, cost: 0n } }],
  calls: []
}

const other: Receipt = { ...receipt, id: "req_b", traceId: "trace-b" }
const secondAttempt: Attempt = { ...attempt, traceId: "trace-b", gateway: 1 }

const withReceipt = (more: Partial<Receipt>) => ({ receipts: [{ ...receipt, ...more }] })

const withOperation = (more: Partial<Operation>) => ({ operations: [{ ...operation, ...more }] })

/** A client disconnects after partial content, and the gateway charges nothing. */
const unpaidPart = {
  ...withReceipt({ status: "cancelled", basis: "none", settled: 0n }),
  accounts: [{ ...account, posted: account.credited, usage: { requests: 1, cost: 0n } }],
  attempts: [{ ...attempt, outcome: { _tag: "Cut", answer: { ...answer, ...failed, content: "ship " } } as const }],
  calls: [{ ...call, complete: false }],
  outages: []
}

/** For every rule, evidence that breaks it. Some of it breaks a second rule too. */
const breaches: Readonly<Record<keyof typeof rules, Partial<Evidence>>> = {
  "every balance is its credits minus its receipts": { accounts: [{ ...account, posted: account.posted - 1n }] },
  "no account spends more than its credits": { accounts: [{ ...account, credited: due - 1n, posted: -1n }] },
  "reported usage is the sum of the receipts": { accounts: [{ ...account, usage: { requests: 1, cost: due - 1n } }] },
  "no hold is open at the end of the run": { accounts: [{ ...account, held: 5n, open: 1 }] },
  "the next sweep ends an expired hold": withReceipt({
    status: "failed",
    errorCode: "request_expired",
    closedAt: 14_000
  }),
  "every budget threshold that is reached has one event": {
    accounts: [{ ...account, budget: { ...account.budget, notified: [80, 80] } }]
  },
  "a complete answer is charged": withReceipt({ status: "cancelled", settled: 0n }),
  "a partial answer is charged": unpaidPart,
  "a complete answer has all of the provider's content": { attempts: answered({ content: "sea ship " }) },
  "an answer and its receipt show the same cost": { attempts: answered({ cost: due + 1n }) },
  "a success costs the usage that its provider reported": withReceipt({ settled: due - 1n }),
  "no charge exceeds its hold or its usage": withReceipt({ held: due - 1n }),
  "an expired request is charged its recorded progress": withReceipt({
    status: "failed",
    errorCode: "request_expired",
    progress: due + 1n
  }),
  "no idempotency key is charged twice": { receipts: [receipt, other], attempts: [attempt, secondAttempt] },
  "no request has two receipts": { receipts: [receipt, { ...other, traceId: "trace-a" }] },
  "all answers under one key are equal": {
    attempts: [attempt, { ...secondAttempt, outcome: { _tag: "Answered", answer: { ...answer, answerId: "req_b" } } }],
    receipts: [receipt, other]
  },
  "failed requests are free": {
    attempts: answered({ ...failed, status: 503, code: "store_unavailable", retryAfter: "2" })
  },
  "every receipt belongs to a request of its account": withReceipt({ traceId: undefined }),
  "every charge has an answer from a provider": { calls: [{ ...call, complete: false }] },
  "every failure has a permitted cause": {
    ...nothingCharged,
    attempts: answered({ ...failed, status: 401, code: "invalid_api_key" })
  },
  "breakers stay closed outside outages": {
    ...nothingCharged,
    outages: [],
    attempts: answered({ ...failed, status: 503, code: "no_provider_available", retryAfter: "2" })
  },
  "every 503 has Retry-After": {
    ...nothingCharged,
    attempts: answered({ ...failed, status: 503, code: "store_unavailable" })
  },
  "reads of receipts return 200, or 503 during an outage": { receiptReads: [{ ...read, status: 401 }] },
  "no client times out": { ...nothingCharged, attempts: [{ ...attempt, outcome: { _tag: "Silent" } }] },
  "no answer breaks off while its gateway runs": {
    ...nothingCharged,
    attempts: [{ ...attempt, outcome: { _tag: "Lost", answer: undefined } }],
    gateways: [NO_OUTAGES, { ...NO_OUTAGES, kills: [{ from: 1_500, to: 1_600 }] }]
  },
  "no content arrives after a hold has expired": {
    ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
    attempts: [
      {
        ...attempt,
        endedAt: 30_000,
        outcome: {
          _tag: "Answered",
          answer: { ...answer, complete: false, code: "request_expired", contentAt: 20_000 }
        }
      }
    ],
    gateways: [{ ...NO_OUTAGES, partitions: [{ from: 1_500, to: 29_000 }] }, NO_OUTAGES]
  },
  "a gateway exits with 0 after SIGTERM": {
    gateways: [{ ...NO_OUTAGES, deploys: [{ from: 3_000, to: 4_000, exit: "SIGKILL" }] }, NO_OUTAGES]
  },
  "every video ends with one delivered event": { videos: { ...videos, jobs: [{ ...job, delivered: 0 }] } },
  "every recorded delivery reached the endpoint with a valid signature": {
    videos: { ...videos, webhooks: videos.webhooks.slice(0, 1) }
  },
  "no accepted webhook is delivered again": {
    videos: {
      ...videos,
      webhooks: [...videos.webhooks, { event: "evt_a", verified: true, accepted: true, at: 30_000 }]
    }
  },
  "a completed video costs its price, a failed one nothing": {
    videos: { ...videos, jobs: [{ ...job, state: "failed" }] }
  },
  "no idempotency key buys two videos": {
    videos: { ...videos, submissions: [...videos.submissions, { key: "video-0", status: 200, id: "b" }] }
  },
  "ledger verify": { failedChecks: ["nothing_negative: 1 of 3 rows"] }
}

const brokenRules = (evidence: Partial<Evidence>) =>
  new Set(audit({ ...flawless, ...evidence }).map(({ rule }) => rule))

describe("the auditor", () => {
  it("reports nothing when every promise was kept", () => assert.deepStrictEqual(audit(flawless), []))

  it.each(Object.keys(rules))("detects a breach of: %s", (rule) => {
    const evidence = breaches[rule]
    assert.isDefined(evidence, `add evidence that breaks "${rule}"`)
    assert.isTrue(brokenRules(evidence ?? {}).has(rule))
  })

  it("excuses an upstream error only for an operation whose hosts fail", () => {
    const attempts = answered({ ...failed, status: 502, code: "upstream_error" })
    const free = { attempts, ...nothingCharged }
    assert.isTrue(brokenRules(free).has("every failure has a permitted cause"))
    const bad = { _tag: "Status", status: 500 } as const
    assert.deepStrictEqual(
      [...brokenRules({ ...free, ...withOperation({ behaviour: { alpha: bad, beta: bad } }) })],
      []
    )
  })

  it("excuses a 429 only for an operation whose hosts limit the rate", () => {
    const attempts = answered({ ...failed, status: 429, code: "rate_limit_exceeded" })
    assert.isTrue(brokenRules({ attempts, ...nothingCharged }).has("every failure has a permitted cause"))
    const bad = { _tag: "Status", status: 429 } as const
    assert.deepStrictEqual(
      [...brokenRules({ attempts, ...nothingCharged, ...withOperation({ behaviour: { alpha: bad, beta: bad } }) })],
      []
    )
  })

  it("excuses a 402 only for accounts with little credit", () => {
    const attempts = answered({ ...failed, status: 402, code: "insufficient_credits" })
    assert.isTrue(brokenRules({ attempts, ...nothingCharged }).has("every failure has a permitted cause"))
    assert.deepStrictEqual([...brokenRules({ attempts, ...nothingCharged, ...withOperation({ account: "poor" }) })], [])
  })

  it("excuses a complete answer without a charge only when an outage let its hold expire", () => {
    const expired = {
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
      accounts: [{ ...account, posted: account.credited, usage: { requests: 1, cost: 0n } }],
      attempts: answered({ cost: 0n })
    }
    const rule = "a complete answer is charged"
    const long = HOLD_TTL_MS
    const away = (from: number, to: number) => brokenRules({ ...expired, outages: [{ from, to }] }).has(rule)
    assert.deepStrictEqual([...brokenRules(expired)], [rule])
    assert.deepStrictEqual([...brokenRules({ ...expired, outages: [{ from: 1_500, to: 1_500 + long }] })], [])
    // Too short for a hold to expire.
    assert.isTrue(away(1_500, 1_600))
    // Over before the request.
    assert.isTrue(away(900 - 2 * long, 900 - long))
    const twice = { ...NO_OUTAGES, pauses: [{ from: 1_500, to: 3_500 }], partitions: [{ from: 4_000, to: 6_000 }] }
    assert.deepStrictEqual([...brokenRules({ ...expired, outages: [], gateways: [twice, NO_OUTAGES] })], [])
  })

  it("excuses an expired hold during a standstill of its gateway, but not while the gateway answers other requests", () => {
    const code = "request_expired"
    const expired: Attempt = {
      ...attempt,
      endedAt: 12_000,
      outcome: { _tag: "Answered", answer: { ...answer, ...failed, code } }
    }
    const others = Array.from({ length: 8 }, (_, number): Attempt => ({
      ...secondAttempt,
      traceId: `${number}`,
      gateway: 0
    }))
    const still = (endedAt: number) => others.map((other) => ({ ...other, startedAt: 1_000, endedAt }))
    const rule = "every failure has a permitted cause"
    const away = { ...nothingCharged, outages: [] }
    const first = { ...secondAttempt, gateway: 0, startedAt: 900, endedAt: 1_100 }
    assert.isFalse(brokenRules({ ...away, attempts: [first, expired, ...still(9_000)] }).has(rule))
    const served = others.map((other, number) => ({ ...other, startedAt: 1_000, endedAt: 1_500 + 1_000 * number }))
    assert.isTrue(brokenRules({ ...away, attempts: [first, expired, ...served] }).has(rule))
  })

  it("excuses a partial answer without a charge only when its gateway could not settle it", () => {
    const rule = "a partial answer is charged"
    const away = [{ from: attempt.endedAt + 500, to: attempt.endedAt + 500 + HOLD_TTL_MS }]
    const died = { ...NO_OUTAGES, kills: away }
    const before = { ...NO_OUTAGES, kills: [{ from: 500, to: 900 }] }
    for (const times of [{}, { gateways: [died, NO_OUTAGES] }, { outages: away }]) {
      assert.deepStrictEqual([...brokenRules({ ...unpaidPart, ...times })], [rule])
    }
    const left = { ...unpaidPart, ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n }) }
    assert.deepStrictEqual([...brokenRules({ ...left, gateways: [NO_OUTAGES, died] })], [rule])
    assert.deepStrictEqual([...brokenRules({ ...left, gateways: [before, NO_OUTAGES] })], [rule])
    for (const times of [{ gateways: [died, NO_OUTAGES] }, { outages: away }]) {
      assert.deepStrictEqual([...brokenRules({ ...left, ...times })], [])
    }
  })

  it("permits content after a short partition until the hold expires", () => {
    const rule = "no content arrives after a hold has expired"
    const diedWith = (expiresAt: number) => ({
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, expiresAt }),
      attempts: [
        {
          ...attempt,
          endedAt: 20_000,
          outcome: { _tag: "Lost", answer: { ...answer, complete: false, contentAt: 19_500 } } as const
        }
      ],
      gateways: [
        { ...NO_OUTAGES, partitions: [{ from: 1_500, to: 3_500 }], kills: [{ from: 19_900, to: 21_000 }] },
        NO_OUTAGES
      ]
    })
    assert.isFalse(brokenRules(diedWith(26_000)).has(rule))
    assert.isTrue(brokenRules(diedWith(9_500)).has(rule))
  })

  it("permits the late end of a complete answer only while its settle waited for the database", () => {
    const rule = "no content arrives after a hold has expired"
    const until = (to: number) => ({
      ...withReceipt({ status: "failed", errorCode: "request_expired", settled: 0n, absorbed: due }),
      attempts: [
        {
          ...attempt,
          endedAt: 30_000,
          outcome: { _tag: "Answered", answer: { ...answer, contentAt: 29_500 } } as const
        }
      ],
      gateways: [{ ...NO_OUTAGES, partitions: [{ from: 1_500, to }] }, NO_OUTAGES]
    })
    assert.isTrue(brokenRules(until(15_000)).has(rule))
    assert.isFalse(brokenRules(until(29_000)).has(rule))
  })

  it("excuses store_unavailable only during an outage of the database", () => {
    const attempts = answered({ ...failed, status: 503, code: "store_unavailable", retryAfter: "2" })
    assert.deepStrictEqual(
      [...brokenRules({ attempts, ...nothingCharged, outages: [] })],
      ["every failure has a permitted cause"]
    )
    assert.deepStrictEqual([...brokenRules({ attempts, ...nothingCharged, outages: [{ from: 1_500, to: 1_600 }] })], [])
  })

  it("permits a broken connection only when its gateway is killed", () => {
    const lost = {
      ...nothingCharged,
      attempts: [{ ...attempt, outcome: { _tag: "Lost", answer: undefined } as const }]
    }
    assert.deepStrictEqual(
      [...brokenRules({ ...lost, gateways: [{ ...NO_OUTAGES, kills: [{ from: 1_500, to: 1_600 }] }, NO_OUTAGES] })],
      []
    )
    const rule = "no answer breaks off while its gateway runs"
    assert.deepStrictEqual([...brokenRules({ ...nothingCharged, attempts: answered(failed) })], [rule])
  })

  it("permits a lost connection during a deploy only after the shutdown delay", () => {
    const lost = {
      ...nothingCharged,
      attempts: [{ ...attempt, outcome: { _tag: "Lost", answer: undefined } as const }]
    }
    const deployed = (from: number) => ({
      gateways: [{ ...NO_OUTAGES, deploys: [{ from, to: from + 5_000, exit: 0 }] }, NO_OUTAGES]
    })
    const rule = "no answer breaks off while its gateway runs"
    for (const from of [attempt.startedAt - SHUTDOWN_DELAY_MS, attempt.startedAt - SHUTDOWN_DELAY_MS + 50]) {
      assert.deepStrictEqual([...brokenRules({ ...lost, ...deployed(from) })], [])
    }
    assert.deepStrictEqual(
      [...brokenRules({ ...lost, ...deployed(attempt.startedAt - SHUTDOWN_DELAY_MS / 2) })],
      [rule]
    )
  })

  it("detects a charge for less content than the client received", () => {
    const rule = "a partial answer is charged"
    const paying = (settled: bigint, content: string) => ({
      ...unpaidPart,
      ...withReceipt({ status: "cancelled", basis: "counted", settled }),
      accounts: [{ ...account, posted: account.credited - settled, usage: { requests: 1, cost: settled } }],
      attempts: [{ ...attempt, outcome: { _tag: "Cut", answer: { ...answer, ...failed, content } } as const }]
    })
    const least = costOf(price, { prompt: QUESTION.split(" ").length, completion: 2 })
    assert.deepStrictEqual([...brokenRules(paying(least, "sea ship "))], [])
    assert.deepStrictEqual([...brokenRules(paying(least, "sea ship salt "))], [rule])
  })

  it("detects a partial answer that is charged like the complete answer", () => {
    const rule = "no charge exceeds its hold or its usage"
    const charged = withReceipt({ status: "cancelled", basis: "counted" })
    assert.isFalse(brokenRules(charged).has(rule))
    assert.isTrue(brokenRules({ ...charged, calls: [{ ...call, sent: 1, complete: false }] }).has(rule))
  })

  it("excuses a claimed key only while another attempt may hold it", () => {
    const code = "idempotency_request_in_progress"
    const taken: Attempt = {
      ...secondAttempt,
      outcome: { _tag: "Answered", answer: { ...answer, ...failed, status: 409, code } }
    }
    const rule = "every failure has a permitted cause"
    assert.deepStrictEqual([...brokenRules({ ...nothingCharged, attempts: [taken] })], [rule])
    assert.isFalse(brokenRules({ attempts: [attempt, taken] }).has(rule))
    const late = { ...taken, startedAt: attempt.endedAt + 60_000, endedAt: attempt.endedAt + 60_100 }
    assert.isTrue(brokenRules({ attempts: [attempt, late] }).has(rule))
  })

  it("excuses an unavailable result only when no request under the key succeeded", () => {
    const code = "idempotency_result_unavailable"
    const gone: Attempt = {
      ...secondAttempt,
      outcome: { _tag: "Answered", answer: { ...answer, ...failed, status: 409, code } }
    }
    const rule = "every failure has a permitted cause"
    assert.isTrue(brokenRules({ attempts: [attempt, gone] }).has(rule))
    assert.isFalse(
      brokenRules({ attempts: [gone], ...withReceipt({ status: "failed", errorCode: "request_expired" }) }).has(rule)
    )
  })

  it("excuses a reader's 503 only during an outage of the database", () => {
    const refused = { ...read, status: 503, retryAfter: "2" }
    assert.deepStrictEqual([...brokenRules({ receiptReads: [refused], outages: [{ from: 500, to: 600 }] })], [])
    assert.deepStrictEqual(
      [...brokenRules({ receiptReads: [refused], outages: [] })],
      ["reads of receipts return 200, or 503 during an outage"]
    )
  })

  it("permits a late sweep only while no gateway can sweep", () => {
    const rule = "the next sweep ends an expired hold"
    const late = withReceipt({ status: "failed", errorCode: "request_expired", closedAt: 14_000 })
    const away = { ...NO_OUTAGES, pauses: [{ from: 8_000, to: 13_000 }] }
    assert.isTrue(brokenRules({ ...late, gateways: [away, NO_OUTAGES] }).has(rule))
    assert.isFalse(brokenRules({ ...late, gateways: [away, away] }).has(rule))
    assert.isFalse(brokenRules({ ...late, outages: [{ from: 8_000, to: 13_000 }] }).has(rule))
  })

  it("permits a repeated webhook when a kill kept the gateway from recording its delivery", () => {
    const webhooks = [...videos.webhooks, { event: "evt_a", verified: true, accepted: true, at: 30_000 }]
    const died = { ...NO_OUTAGES, kills: [{ from: 25_100, to: 27_000 }] }
    assert.deepStrictEqual([...brokenRules({ videos: { ...videos, webhooks }, gateways: [NO_OUTAGES, died] })], [])
  })

  it("detects a charge for more than the usage", () => {
    const dear = costOf(price, { ...operation.atMost, completion: operation.atMost.completion + 1 })
    const cut = { status: "cancelled", basis: "counted", settled: dear, held: 10n * dear }
    assert.isTrue(brokenRules(withReceipt(cut)).has("no charge exceeds its hold or its usage"))
  })
})
