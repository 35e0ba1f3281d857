/** Compares the evidence of clients and the upstream with the receipts and the accounts. Pure functions over values. */
import { nanoFromPico } from "../../src/domain/Money.ts"
import { videoRules } from "./VideoRules.ts"
import { QUESTION } from "./Dialects.ts"
import { type Evidence, MAX_TOKENS_A_WORD, type Operation, type Receipt, type Usage } from "./Evidence.ts"
import {
  answerOf,
  answersOf,
  attemptOf,
  type EvidenceIndex,
  groupBy,
  indexEvidence,
  operationOf
} from "./EvidenceIndex.ts"
import {
  excuse,
  expiredUnrenewed,
  isCalm,
  latestContentAt,
  mayBeUnavailable,
  mayBreakOff,
  sweepDeadline,
  wasLeftToExpire
} from "./Excuses.ts"

/** One broken promise. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** The largest share of requests outside outages that may find the circuit breaker of every host open. */
const MAX_BREAKERS_OPEN = 0.2

type Rule = (index: EvidenceIndex) => ReadonlyArray<string>

const completeAnswers = (index: EvidenceIndex) => answersOf(index).filter(({ answer }) => answer.complete)

/** The cost of a usage at a receipt's price. */
export const costOf = (price: NonNullable<Receipt["price"]>, { completion, prompt }: Usage): bigint =>
  nanoFromPico(price.input * BigInt(prompt) + price.output * BigInt(completion))

/** The smallest possible usage of an answer with this content, because every tokenizer makes at least one token of a word. */
const leastUsage = (content: string): Usage => ({
  prompt: QUESTION.split(" ").length,
  completion: content.trim() === "" ? 0 : content.trim().split(" ").length
})

/** The largest possible usage of an answer to an operation, given what its hosts sent. */
const mostUsage = (index: EvidenceIndex, { atMost, chunks, id }: Operation): Usage => {
  const sent = Math.max(0, ...(index.callsByOperation.get(id) ?? []).map((call) => call.sent))
  const unsent = chunks.length - Math.min(sent, chunks.length)
  return { ...atMost, completion: atMost.completion - MAX_TOKENS_A_WORD * unsent }
}

const sumOf = (receipts: ReadonlyArray<Receipt>): bigint =>
  receipts.reduce((sum, { refunded, settled }) => sum + settled - refunded, 0n)

const spentBy = ({ receipts }: Evidence, name: string): bigint =>
  sumOf(receipts.filter(({ account }) => account === name))

/** A refund may lower the spending below a threshold whose event exists already. */
const thresholdsHaveEvents: Rule = ({ evidence }) =>
  evidence.accounts.flatMap(({ budget: { limit, notified, spent }, name }) => {
    const missing = [80, 100].filter(
      (percent) => spent > 0n && spent * 100n >= limit * BigInt(percent) && !notified.includes(percent)
    )
    return missing.length === 0 && new Set(notified).size === notified.length
      ? []
      : [`${name} spent ${spent} of ${limit} and has events for ${notified.join(", ")} %`]
  })

const balances: Rule = ({ evidence }) =>
  evidence.accounts.flatMap(({ credited, name, posted }) => {
    const spent = spentBy(evidence, name)
    return credited - spent === posted
      ? []
      : [`${name} has credits of ${credited}, receipts of ${spent} and a balance of ${posted}`]
  })

const spendsItsCredits: Rule = ({ evidence }) =>
  evidence.accounts.flatMap(({ credited, name, posted }) => {
    const spent = spentBy(evidence, name)
    return posted >= 0n && spent <= credited
      ? []
      : [`${name} has credits of ${credited}, receipts of ${spent} and a balance of ${posted}`]
  })

const usageMatchesReceipts: Rule = ({ evidence }) =>
  evidence.accounts.flatMap(({ name, usage }) => {
    const closed = evidence.receipts.filter(({ account, status }) => account === name && status !== "open")
    const cost = sumOf(closed)
    return usage.requests === closed.length && usage.cost === cost
      ? []
      : [
          `${name} has a usage of ${usage.requests} requests for ${usage.cost}, and ${closed.length} receipts for ${cost}`
        ]
  })

const noHoldIsOpen: Rule = ({ evidence }) => [
  ...evidence.accounts.flatMap(({ held, name, open }) =>
    held === 0n && open === 0 ? [] : [`${name} has ${held} held by ${open} open requests`]
  ),
  ...evidence.receipts.filter(({ status }) => status === "open").map(({ id }) => `${id} is open`)
]

/** Excused while no gateway can sweep. */
const holdsEndInTime: Rule = ({ evidence }) => {
  const deadline = sweepDeadline(evidence)
  return evidence.receipts.flatMap(({ closedAt, expiresAt, id }) => {
    if (closedAt === undefined || expiresAt === undefined || closedAt <= deadline(expiresAt)) return []
    return [`${id} closed ${closedAt - expiresAt} ms after its hold, ${closedAt - deadline(expiresAt)} ms too late`]
  })
}

const completeIsCharged: Rule = (index) =>
  completeAnswers(index).flatMap(({ answer, attempt }) => {
    const receipt = index.receiptsById.get(answer.answerId ?? "")
    if (receipt === undefined) return [`${attempt.operation}: complete answer ${answer.answerId} has no receipt`]
    if (receipt.settled > 0n && receipt.status === "succeeded") return []
    if (expiredUnrenewed(index.evidence, attempt, receipt)) return []
    return [
      `${attempt.operation}: ${receipt.id} has a complete answer, is ${receipt.status} and settled ${receipt.settled}`
    ]
  })

const partIsCharged: Rule = (index) =>
  answersOf(index).flatMap(({ answer, attempt }) => {
    const { content, replayed, requestId, status, complete } = answer
    if (complete || replayed || status !== 200 || content === "") return []
    const receipt = index.receiptsById.get(requestId)
    if (receipt === undefined) return [`${attempt.operation}: ${requestId} delivered "${content}" and has no receipt`]
    if (wasLeftToExpire(index.evidence, attempt, receipt)) return []
    const least = receipt.price === undefined ? 1n : costOf(receipt.price, leastUsage(content))
    return receipt.settled > 0n && receipt.settled + receipt.absorbed >= least
      ? []
      : [
          `${attempt.operation}: ${receipt.id} delivered "${content}", is ${receipt.status} and settled ${receipt.settled} of ${least}`
        ]
  })

const costIsTheSame: Rule = (index) =>
  completeAnswers(index).flatMap(({ answer, attempt }) => {
    const settled = index.receiptsById.get(answer.answerId ?? "")?.settled
    return settled === answer.cost
      ? []
      : [`${attempt.operation}: the answer shows ${answer.cost}, the receipt of ${answer.answerId} ${settled}`]
  })

const contentIsTheProviders: Rule = (index) =>
  completeAnswers(index).flatMap(({ answer, attempt }) => {
    const expected = index.operations.get(attempt.operation)?.chunks.join("")
    return answer.content === expected
      ? []
      : [`${attempt.operation}: the client received "${answer.content}", the provider's answer is "${expected}"`]
  })

const costIsRight: Rule = (index) =>
  index.evidence.receipts.flatMap((receipt) => {
    const operation = operationOf(index, receipt)
    if (operation === undefined || receipt.status !== "succeeded") return []
    if (receipt.price === undefined) return [`${receipt.id} succeeded without a price`]
    const { chunks, id, reported } = operation
    if ((reported === undefined) !== (receipt.basis === "counted")) {
      return [
        `${id}: the basis of ${receipt.id} is "${receipt.basis}", the provider reported usage: ${reported !== undefined}`
      ]
    }
    const paid = receipt.settled + receipt.absorbed
    const due = costOf(receipt.price, reported ?? leastUsage(chunks.join("")))
    return paid === due || (reported === undefined && paid > due)
      ? []
      : [`${id}: ${receipt.id} settled ${receipt.settled} and absorbed ${receipt.absorbed} of ${due}`]
  })

const chargeHasBounds: Rule = (index) =>
  index.evidence.receipts.flatMap((receipt) => {
    if (receipt.settled > receipt.held) return [`${receipt.id} settled ${receipt.settled} of ${receipt.held} held`]
    const operation = operationOf(index, receipt)
    if (operation === undefined || receipt.price === undefined) return []
    const most = costOf(receipt.price, mostUsage(index, operation))
    return receipt.settled <= most
      ? []
      : [`${operation.id}: ${receipt.id} settled ${receipt.settled}, its usage costs at most ${most}`]
  })

/** A gateway that ends a stream at its hold's expiry also settles the usage since the last record, if the hold is still open. */
const expiredPaysProgress: Rule = ({ evidence }) =>
  evidence.receipts
    .filter(({ errorCode, progress, settled }) => errorCode === "request_expired" && settled < progress)
    .map(({ id, progress, settled }) => `${id} expired with ${progress} recorded and settled ${settled}`)

const oneChargePerKey: Rule = (index) =>
  [...groupBy(index.evidence.receipts, ({ idempotencyKey }) => idempotencyKey)].flatMap(([key, receipts]) => {
    const charged = receipts.filter(({ settled }) => settled > 0n)
    return charged.length <= 1 ? [] : [`${charged.map(({ id }) => id).join(" and ")} charged ${key}`]
  })

/** An attempt that the gateway answers with a replay has no receipt of its own. */
const oneReceiptPerAttempt: Rule = (index) =>
  [...groupBy(index.evidence.receipts, ({ traceId }) => traceId)].flatMap(([trace, receipts]) =>
    receipts.length === 1 ? [] : [`${trace} has the receipts ${receipts.map(({ id }) => id).join(" and ")}`]
  )

const repeatsAgree: Rule = (index) =>
  [
    ...groupBy(completeAnswers(index), ({ attempt: { operation } }) =>
      index.operations.get(operation)?.idempotencyKey === undefined ? undefined : operation
    )
  ]
    .filter(
      ([, answers]) =>
        new Set(answers.map(({ answer }) => `${answer.answerId} ${answer.cost} ${answer.content}`)).size > 1
    )
    .map(
      ([operation, answers]) =>
        `${operation} has the answers ${answers.map((one) => one.answer.answerId).join(" and ")}`
    )

const failedIsFree: Rule = (index) =>
  answersOf(index).flatMap(({ answer: { code, requestId, status }, attempt }) => {
    const settled = index.receiptsByTrace.get(attempt.traceId)?.settled ?? 0n
    return status === 200 || settled === 0n
      ? []
      : [`${attempt.operation}: ${requestId} failed with ${status} ${code} and settled ${settled}`]
  })

const receiptsHaveRequests: Rule = (index) =>
  index.evidence.receipts.flatMap((receipt) => {
    const operation = operationOf(index, receipt)
    if (operation === undefined) return [`no client sent a request for ${receipt.id}`]
    return operation.account === receipt.account
      ? []
      : [`${receipt.id} of ${receipt.account} belongs to a request of ${operation.account}`]
  })

const chargesHaveCalls: Rule = (index) =>
  [...groupBy(index.evidence.receipts, (receipt) => operationOf(index, receipt)?.id)].flatMap(
    ([operation, receipts]) => {
      const calls = index.callsByOperation.get(operation) ?? []
      const succeeded = receipts.filter(({ status }) => status === "succeeded").length
      const complete = calls.filter((call) => call.complete).length
      const charged = receipts.filter(({ settled }) => settled > 0n).length
      const begun = calls.filter(({ sent }) => sent > 0).length
      return [
        ...(succeeded > complete
          ? [`${operation} succeeded ${succeeded} times with ${complete} complete answers of providers`]
          : []),
        ...(charged > begun ? [`${operation} was charged ${charged} times with ${begun} answers of providers`] : [])
      ]
    }
  )

const failuresAreExcused: Rule = (index) =>
  answersOf(index).flatMap(({ answer: { code, requestId, status }, attempt }) => {
    const operation = index.operations.get(attempt.operation)
    if (operation === undefined) return [`${attempt.operation} is no operation`]
    if (status === 200 && code === undefined) return []
    if (excuse(index, attempt, code, operation) !== undefined) return []
    return [`${attempt.operation}: ${status} ${code} from gateway ${attempt.gateway} (${requestId})`]
  })

/** Hosts answer most calls, so breakers stay closed outside outages. */
const breakersStayClosed: Rule = (index) => {
  const calm = answersOf(index).filter(({ attempt }) => isCalm(index.evidence, attempt))
  const unserved = calm.filter(({ answer }) => answer.code === "no_provider_available").length
  return unserved <= MAX_BREAKERS_OPEN * calm.length
    ? []
    : [`${unserved} of ${calm.length} requests found every breaker open`]
}

const unavailableHasRetryAfter: Rule = (index) =>
  answersOf(index)
    .filter(({ answer }) => answer.status === 503 && !/^[1-9]\d*$/.test(answer.retryAfter ?? ""))
    .map(({ answer, attempt }) => `${attempt.operation}: 503 ${answer.code} with Retry-After ${answer.retryAfter}`)

const receiptReadsAreAnswered: Rule = ({ evidence }) =>
  evidence.receiptReads
    .filter((read) => {
      const unavailable = read.status === 503 && read.retryAfter !== undefined && mayBeUnavailable(evidence, read)
      return read.status !== 200 && !unavailable
    })
    .map(
      ({ gateway, retryAfter, status }) =>
        `gateway ${gateway} answered a read of receipts with ${status}, Retry-After ${retryAfter}`
    )

const noClientTimesOut: Rule = (index) =>
  index.evidence.attempts
    .filter(({ outcome }) => outcome._tag === "Silent")
    .map(({ operation }) => `${operation} timed out`)

/** Excused when the gateway was killed, or when the client connected after the gateway's shutdown delay. */
const answersAreComplete: Rule = ({ evidence }) =>
  evidence.attempts.flatMap((attempt) => {
    const { outcome } = attempt
    const answer = answerOf(attempt)
    const torn = outcome._tag === "Answered" && answer?.status === 200 && !answer.complete && answer.code === undefined
    return torn || ((outcome._tag === "Lost" || outcome._tag === "Refused") && !mayBreakOff(evidence, attempt))
      ? [`${attempt.operation}: gateway ${attempt.gateway} broke off ${answer?.requestId ?? "before the head"}`]
      : []
  })

/** A gateway soon notices that a hold has expired, and then sends the client no more content. */
const noContentAfterExpiry: Rule = (index) =>
  index.evidence.receipts.flatMap((receipt) => {
    const attempt = attemptOf(index, receipt)
    const contentAt = attempt === undefined ? undefined : answerOf(attempt)?.contentAt
    if (receipt.errorCode !== "request_expired" || attempt === undefined || contentAt === undefined) return []
    const latest = latestContentAt(index.evidence, attempt, receipt)
    return latest === undefined || contentAt <= latest
      ? []
      : [`${attempt.operation}: ${receipt.id} expired, and its last content came ${contentAt - latest} ms too late`]
  })

/** A gateway that receives SIGTERM finishes its open requests and exits. */
const deploysExitCleanly: Rule = ({ evidence }) =>
  evidence.gateways.flatMap(({ deploys }, gateway) =>
    deploys
      .filter(({ exit }) => exit !== 0)
      .map(({ exit }) => `gateway ${gateway} received SIGTERM and ended with ${exit}`)
  )

const ledgerVerifies: Rule = ({ evidence }) => evidence.failedChecks

/** Every rule, by the promise that it checks. */
export const rules: Readonly<Record<string, Rule>> = {
  "every balance is its credits minus its receipts": balances,
  "no account spends more than its credits": spendsItsCredits,
  "reported usage is the sum of the receipts": usageMatchesReceipts,
  "no hold is open at the end of the run": noHoldIsOpen,
  "the next sweep ends an expired hold": holdsEndInTime,
  "every budget threshold that is reached has one event": thresholdsHaveEvents,
  "a complete answer is charged": completeIsCharged,
  "a partial answer is charged": partIsCharged,
  "a complete answer has all of the provider's content": contentIsTheProviders,
  "an answer and its receipt show the same cost": costIsTheSame,
  "a success costs the usage that its provider reported": costIsRight,
  "no charge exceeds its hold or its usage": chargeHasBounds,
  "an expired request is charged its recorded progress": expiredPaysProgress,
  "no idempotency key is charged twice": oneChargePerKey,
  "no request has two receipts": oneReceiptPerAttempt,
  "all answers under one key are equal": repeatsAgree,
  "failed requests are free": failedIsFree,
  "every receipt belongs to a request of its account": receiptsHaveRequests,
  "every charge has an answer from a provider": chargesHaveCalls,
  "every failure has a permitted cause": failuresAreExcused,
  "breakers stay closed outside outages": breakersStayClosed,
  "every 503 has Retry-After": unavailableHasRetryAfter,
  "reads of receipts return 200, or 503 during an outage": receiptReadsAreAnswered,
  "no client times out": noClientTimesOut,
  "no answer breaks off while its gateway runs": answersAreComplete,
  "no content arrives after a hold has expired": noContentAfterExpiry,
  "a gateway exits with 0 after SIGTERM": deploysExitCleanly,
  ...videoRules,
  "ledger verify": ledgerVerifies
}

/** All violations that the evidence shows. */
export const audit = (evidence: Evidence): ReadonlyArray<Violation> => {
  const index = indexEvidence(evidence)
  return Object.entries(rules).flatMap(([rule, check]) => check(index).map((detail) => ({ rule, detail })))
}
