/** Holds the clients' notes, the upstream's, the receipts and the books against each other. Pure functions over values. */
import { nanoFromPico } from "../../src/domain/Money.ts"
import { videoRules } from "./AuditVideos.ts"
import { answersOf, askOf, type Case, caseOf, groupBy, seenOf, tryOf } from "./Case.ts"
import { QUESTION } from "./Dialects.ts"
import {
  excuse,
  expiredUnrenewed,
  isCalm,
  isLeftBehind,
  lastGift,
  mayBeUnavailable,
  mayBreakOff,
  sweptBy
} from "./Excuses.ts"
import { type Ask, type Evidence, MOST_TOKENS_A_WORD, type Receipt, type Usage } from "./Notes.ts"

/** One promise that was not kept. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** Of the requests for which nothing was away, how many may find every host resting. */
const MOST_RESTING = 0.2

type Rule = (it: Case) => ReadonlyArray<string>

const wholeOf = (it: Case) => answersOf(it).filter(({ seen }) => seen.whole)

/** What a receipt's prices make of a usage. */
export const costOf = (price: NonNullable<Receipt["price"]>, { completion, prompt }: Usage): bigint =>
  nanoFromPico(price.input * BigInt(prompt) + price.output * BigInt(completion))

/** The least that somebody used who saw this much: no tokenizer makes fewer tokens than there are words. */
const leastOf = (content: string): Usage => ({
  prompt: QUESTION.split(" ").length,
  completion: content.trim() === "" ? 0 : content.trim().split(" ").length
})

/** The most that any answer to an ask used, of what its hosts have sent. */
const mostOf = (it: Case, { atMost, chunks, id }: Ask): Usage => {
  const sent = Math.max(0, ...(it.callsByAsk.get(id) ?? []).map((call) => call.sent))
  const beyond = chunks.length - Math.min(sent, chunks.length)
  return { ...atMost, completion: atMost.completion - MOST_TOKENS_A_WORD * beyond }
}

/** What was given back may have been told of before. */
const thresholdsAreTold: Rule = ({ evidence }) =>
  evidence.books.flatMap(({ budget: { limit, spent, told }, name }) => {
    const missing = [80, 100].filter(
      (percent) => spent > 0n && spent * 100n >= limit * BigInt(percent) && !told.includes(percent)
    )
    return missing.length === 0 && new Set(told).size === told.length
      ? []
      : [`${name} spent ${spent} of ${limit} and was told of ${told.join(", ")} %`]
  })

const balances: Rule = ({ evidence }) =>
  evidence.books.flatMap(({ credited, name, posted }) => {
    const spent = evidence.receipts
      .filter((receipt) => receipt.account === name)
      .reduce((sum, { refunded, settled }) => sum + settled - refunded, 0n)
    return credited - spent === posted
      ? []
      : [`${name} had ${credited}, its receipts come to ${spent}, and it has ${posted}`]
  })

const spendsWhatItHas: Rule = ({ evidence }) =>
  evidence.books.flatMap(({ credited, name, posted }) => {
    const spent = evidence.receipts
      .filter(({ account }) => account === name)
      .reduce((sum, { refunded, settled }) => sum + settled - refunded, 0n)
    return posted >= 0n && spent <= credited ? [] : [`${name} had ${credited}, spent ${spent}, and has ${posted} left`]
  })

const usageIsTold: Rule = ({ evidence }) =>
  evidence.books.flatMap(({ name, used }) => {
    const ended = evidence.receipts.filter(({ account, status }) => account === name && status !== "open")
    const cost = ended.reduce((sum, { refunded, settled }) => sum + settled - refunded, 0n)
    return used.requests === ended.length && used.cost === cost
      ? []
      : [`${name} is told of ${used.requests} requests for ${used.cost}, its receipts are ${ended.length} for ${cost}`]
  })

const noHoldStands: Rule = ({ evidence }) => [
  ...evidence.books.flatMap(({ held, name, open }) =>
    held === 0n && open === 0 ? [] : [`${name} has ${held} held by ${open} open requests`]
  ),
  ...evidence.receipts.filter(({ status }) => status === "open").map(({ id }) => `${id} is open`)
]

/** A sweep ends what is overdue, unless no gateway can sweep. */
const holdsEndInTime: Rule = ({ evidence }) => {
  const by = sweptBy(evidence)
  return evidence.receipts.flatMap(({ closedAt, expiresAt, id }) => {
    if (closedAt === undefined || expiresAt === undefined || closedAt <= by(expiresAt)) return []
    return [`${id} ended ${closedAt - expiresAt} ms after its hold, ${closedAt - by(expiresAt)} ms too late`]
  })
}

const wholeIsPaid: Rule = (it) =>
  wholeOf(it).flatMap(({ one, seen }) => {
    const receipt = it.receiptsById.get(seen.answerId ?? "")
    if (receipt === undefined) return [`${one.ask}: ${seen.answerId} was answered whole and has no receipt`]
    if (receipt.settled > 0n && receipt.status === "succeeded") return []
    if (expiredUnrenewed(it.evidence, one, receipt)) return []
    return [`${one.ask}: ${receipt.id} was answered whole, is ${receipt.status} and settled ${receipt.settled}`]
  })

const partIsPaid: Rule = (it) =>
  answersOf(it).flatMap(({ one, seen }) => {
    if (seen.whole || seen.replayed || seen.status !== 200 || seen.content === "") return []
    const receipt = it.receiptsById.get(seen.requestId)
    if (receipt === undefined) return [`${one.ask}: "${seen.content}" came of ${seen.requestId}, which has no receipt`]
    if (isLeftBehind(it.evidence, one, receipt)) return []
    const least = receipt.price === undefined ? 1n : costOf(receipt.price, leastOf(seen.content))
    return receipt.settled > 0n && receipt.settled + receipt.absorbed >= least
      ? []
      : [
          `${one.ask}: "${seen.content}" came of ${receipt.id}, which is ${receipt.status}: settled ${receipt.settled} of ${least}`
        ]
  })

const costIsTheSame: Rule = (it) =>
  wholeOf(it).flatMap(({ one, seen }) => {
    const settled = it.receiptsById.get(seen.answerId ?? "")?.settled
    return settled === seen.cost
      ? []
      : [`${one.ask}: the answer says ${seen.cost}, the receipt of ${seen.answerId} ${settled}`]
  })

const contentIsWhole: Rule = (it) =>
  wholeOf(it).flatMap(({ one, seen }) => {
    const expected = it.asks.get(one.ask)?.chunks.join("")
    return seen.content === expected ? [] : [`${one.ask}: "${seen.content}" came for whole, "${expected}" was made`]
  })

const costIsRight: Rule = (it) =>
  it.evidence.receipts.flatMap((receipt) => {
    const ask = askOf(it, receipt)
    if (ask === undefined || receipt.status !== "succeeded") return []
    if (receipt.price === undefined) return [`${receipt.id} succeeded without a price`]
    if ((ask.reported === undefined) !== (receipt.basis === "counted")) {
      return [
        `${ask.id}: ${receipt.id} says "${receipt.basis}" of a usage that was reported: ${ask.reported !== undefined}`
      ]
    }
    const paid = receipt.settled + receipt.absorbed
    const due = costOf(receipt.price, ask.reported ?? leastOf(ask.chunks.join("")))
    return paid === due || (ask.reported === undefined && paid > due)
      ? []
      : [`${ask.id}: ${receipt.id} settled ${receipt.settled} and absorbed ${receipt.absorbed} of ${due}`]
  })

const chargeHasBounds: Rule = (it) =>
  it.evidence.receipts.flatMap((receipt) => {
    if (receipt.settled > receipt.held) return [`${receipt.id} settled ${receipt.settled} of ${receipt.held} held`]
    const ask = askOf(it, receipt)
    if (ask === undefined || receipt.price === undefined) return []
    const most = costOf(receipt.price, mostOf(it, ask))
    return receipt.settled <= most
      ? []
      : [`${ask.id}: ${receipt.id} settled ${receipt.settled}, at most ${most} was used`]
  })

/** A gateway that ends a stream with its hold settles what it gave since the last record, if the hold is still open then. */
const expiredPaysProgress: Rule = ({ evidence }) =>
  evidence.receipts
    .filter(({ errorCode, progress, settled }) => errorCode === "request_expired" && settled < progress)
    .map(({ id, progress, settled }) => `${id} expired with ${progress} recorded and settled ${settled}`)

const oncePerKey: Rule = (it) =>
  [...groupBy(it.evidence.receipts, ({ idempotencyKey }) => idempotencyKey)].flatMap(([key, receipts]) => {
    const paid = receipts.filter(({ settled }) => settled > 0n)
    return paid.length <= 1 ? [] : [`${key} was charged by ${paid.map(({ id }) => id).join(" and ")}`]
  })

/** One request has one receipt; a try that shows another's answer has none. */
const oncePerTry: Rule = (it) =>
  [...groupBy(it.evidence.receipts, ({ traceId }) => traceId)].flatMap(([trace, receipts]) =>
    receipts.length === 1 ? [] : [`${trace} has the receipts ${receipts.map(({ id }) => id).join(" and ")}`]
  )

const repeatsAgree: Rule = (it) =>
  [...groupBy(wholeOf(it), ({ one }) => (it.asks.get(one.ask)?.idempotencyKey === undefined ? undefined : one.ask))]
    .filter(
      ([, answers]) => new Set(answers.map(({ seen }) => `${seen.answerId} ${seen.cost} ${seen.content}`)).size > 1
    )
    .map(([ask, answers]) => `${ask} was answered by ${answers.map(({ seen }) => seen.answerId).join(" and ")}`)

const failedIsFree: Rule = (it) =>
  answersOf(it).flatMap(({ one, seen }) => {
    const settled = it.receiptsByTrace.get(one.traceId)?.settled ?? 0n
    return seen.status === 200 || settled === 0n
      ? []
      : [`${one.ask}: ${seen.requestId} failed with ${seen.status} ${seen.code} and was charged ${settled}`]
  })

const receiptsAreAskedFor: Rule = (it) =>
  it.evidence.receipts.flatMap((receipt) => {
    const ask = askOf(it, receipt)
    if (ask === undefined) return [`nobody asked for ${receipt.id}`]
    return ask.account === receipt.account
      ? []
      : [`${receipt.id} of ${receipt.account} was asked for by ${ask.account}`]
  })

const servedByCalls: Rule = (it) =>
  [...groupBy(it.evidence.receipts, (receipt) => askOf(it, receipt)?.id)].flatMap(([ask, receipts]) => {
    const calls = it.callsByAsk.get(ask) ?? []
    const succeeded = receipts.filter(({ status }) => status === "succeeded").length
    const whole = calls.filter((call) => call.whole).length
    const charged = receipts.filter(({ settled }) => settled > 0n).length
    const begun = calls.filter(({ sent }) => sent > 0).length
    return [
      ...(succeeded > whole ? [`${ask} succeeded ${succeeded} times out of ${whole} whole answers of providers`] : []),
      ...(charged > begun ? [`${ask} was charged ${charged} times out of ${begun} answers of providers`] : [])
    ]
  })

const failuresAreDecided: Rule = (it) =>
  answersOf(it).flatMap(({ one, seen }) => {
    const ask = it.asks.get(one.ask)
    if (ask === undefined) return [`${one.ask} is no ask`]
    if (seen.status === 200 && seen.code === undefined) return []
    if (excuse(it, one, seen.code, ask) !== undefined) return []
    return [`${one.ask}: ${seen.status} ${seen.code} from gateway ${one.gateway} (${seen.requestId})`]
  })

/** Of the tries for which nothing was away, few may find every host resting: those answer most of what they are asked. */
const hostsAreAsked: Rule = (it) => {
  const calm = answersOf(it).filter(({ one }) => isCalm(it.evidence, one))
  const resting = calm.filter(({ seen }) => seen.code === "no_provider_available").length
  return resting <= MOST_RESTING * calm.length ? [] : [`${resting} of ${calm.length} requests found every host resting`]
}

const unavailableSaysWhen: Rule = (it) =>
  answersOf(it)
    .filter(({ seen }) => seen.status === 503 && !/^[1-9]\d*$/.test(seen.retryAfter ?? ""))
    .map(({ one, seen }) => `${one.ask}: 503 ${seen.code} with Retry-After ${seen.retryAfter}`)

const readersAreAnswered: Rule = ({ evidence }) =>
  evidence.readings
    .filter((one) => {
      const unavailable = one.status === 503 && one.retryAfter !== undefined && mayBeUnavailable(evidence, one)
      return one.status !== 200 && !unavailable
    })
    .map(
      ({ gateway, retryAfter, status }) => `gateway ${gateway} gave receipts with ${status}, Retry-After ${retryAfter}`
    )

const nobodyWaitsForEver: Rule = (it) =>
  it.evidence.tries.filter(({ ending }) => ending._tag === "Silent").map(({ ask }) => `${ask} was never answered`)

/** Only a process that dies may leave an answer without its end, or one that is told to stop, what was begun after that. */
const answersEnd: Rule = ({ evidence }) =>
  evidence.tries.flatMap((one) => {
    const { ending } = one
    const seen = seenOf(one)
    const torn = ending._tag === "Answered" && seen?.status === 200 && !seen.whole && seen.code === undefined
    return torn || ((ending._tag === "Lost" || ending._tag === "Refused") && !mayBreakOff(evidence, one))
      ? [`${one.ask}: ${seen?.requestId ?? "nothing"} came from gateway ${one.gateway} and broke off`]
      : []
  })

/** A gateway whose hold has ended notices it soon, and gives its client nothing more. */
const nothingIsGivenLate: Rule = (it) =>
  it.evidence.receipts.flatMap((receipt) => {
    const one = tryOf(it, receipt)
    const contentAt = one === undefined ? undefined : seenOf(one)?.contentAt
    if (receipt.errorCode !== "request_expired" || one === undefined || contentAt === undefined) return []
    const last = lastGift(it.evidence, one, receipt)
    return last === undefined || contentAt <= last
      ? []
      : [`${one.ask}: ${receipt.id} expired, and gave content ${contentAt - last} ms after it had to be over`]
  })

/** A deploy waits for what was begun before it, and ends by itself. */
const deploysEnd: Rule = ({ evidence }) =>
  evidence.gateways.flatMap(({ deploys }, gateway) =>
    deploys
      .filter(({ exit }) => exit !== 0)
      .map(({ exit }) => `gateway ${gateway} was told to stop and ended with ${exit}`)
  )

const verified: Rule = ({ evidence }) => evidence.faults

/** Every rule, by the promise it proves. */
export const rules: Readonly<Record<string, Rule>> = {
  "credits less what receipts settled are the balances": balances,
  "no account spends more than it has": spendsWhatItHas,
  "the use that is told is what the receipts come to": usageIsTold,
  "no hold stands when all is over": noHoldStands,
  "an overdue hold ends with the next sweep": holdsEndInTime,
  "a threshold of a budget is told, once": thresholdsAreTold,
  "what was delivered whole is paid for": wholeIsPaid,
  "what was delivered in part is paid for": partIsPaid,
  "what was delivered whole is what was made": contentIsWhole,
  "answer and receipt say the same cost": costIsTheSame,
  "a success costs what its provider reported": costIsRight,
  "no charge beyond the hold or what was used": chargeHasBounds,
  "what its process left behind costs what it had recorded": expiredPaysProgress,
  "no idempotency key is charged twice": oncePerKey,
  "no request has two receipts": oncePerTry,
  "all answers under one key are equal": repeatsAgree,
  "what failed is free": failedIsFree,
  "every receipt was asked for": receiptsAreAskedFor,
  "nothing is served that no provider sent": servedByCalls,
  "only decided failures": failuresAreDecided,
  "hosts that answer are asked": hostsAreAsked,
  "a 503 says when to come back": unavailableSaysWhen,
  "readers see their receipts, or a 503": readersAreAnswered,
  "every request ends": nobodyWaitsForEver,
  "every answer has its end while its gateway lives": answersEnd,
  "nothing is given after the end of a hold": nothingIsGivenLate,
  "a gateway that is told to stop ends by itself": deploysEnd,
  ...videoRules,
  "ledger verify": verified
}

/** All that the evidence shows to be broken; nothing, where every promise was kept. */
export const audit = (evidence: Evidence): ReadonlyArray<Violation> => {
  const it = caseOf(evidence)
  return Object.entries(rules).flatMap(([rule, check]) => check(it).map((detail) => ({ rule, detail })))
}
