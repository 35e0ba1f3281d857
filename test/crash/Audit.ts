/** Holds the clients' notes, the upstream's, the receipts and the books against each other. Pure functions over values. */
import { nanoFromPico } from "../../src/domain/Money.ts"
import { excuse, expiredUnrenewed, isLeftBehind, lastGift, mayBreakOff } from "./Excuses.ts"
import type { Ask, Call, Evidence, Receipt, Seen, Try, Usage } from "./Notes.ts"

/** One promise that was not kept. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** The evidence with what is looked up in it all the time. */
interface Case {
  readonly evidence: Evidence
  readonly asks: ReadonlyMap<string, Ask>
  readonly receiptsById: ReadonlyMap<string, Receipt>
  readonly receiptsByTrace: ReadonlyMap<string, Receipt>
  readonly triesByTrace: ReadonlyMap<string, Try>
  readonly callsByAsk: ReadonlyMap<string, ReadonlyArray<Call>>
}

type Rule = (it: Case) => ReadonlyArray<string>

const groupBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string | undefined): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const key = keyOf(one)
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return groups
}

const mapBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string | undefined): Map<string, A> =>
  new Map(all.flatMap((one): Array<[string, A]> => ((key) => (key === undefined ? [] : [[key, one]]))(keyOf(one))))

const caseOf = (evidence: Evidence): Case => ({
  evidence,
  asks: mapBy(evidence.asks, ({ id }) => id),
  receiptsById: mapBy(evidence.receipts, ({ id }) => id),
  receiptsByTrace: mapBy(evidence.receipts, ({ traceId }) => traceId),
  triesByTrace: mapBy(evidence.tries, ({ traceId }) => traceId),
  callsByAsk: groupBy(evidence.calls, ({ ask }) => ask)
})

/** What the client saw of a try, if anything. */
export const seenOf = ({ ending }: Try): Seen | undefined => ("seen" in ending ? ending.seen : undefined)

const answersOf = (it: Case): ReadonlyArray<{ readonly one: Try; readonly seen: Seen }> =>
  it.evidence.tries.flatMap((one) => ((seen) => (seen === undefined ? [] : [{ one, seen }]))(seenOf(one)))

const wholeOf = (it: Case) => answersOf(it).filter(({ seen }) => seen.whole)

/** What a receipt's prices make of a usage. */
export const costOf = (price: NonNullable<Receipt["price"]>, { completion, prompt }: Usage): bigint =>
  nanoFromPico(price.input * BigInt(prompt) + price.output * BigInt(completion))

/** The ask behind a receipt, by the try that carried its trace. */
const askOf = (it: Case, receipt: Receipt): Ask | undefined => {
  const one = receipt.traceId === undefined ? undefined : it.triesByTrace.get(receipt.traceId)
  return one === undefined ? undefined : it.asks.get(one.ask)
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
    return receipt.settled > 0n || isLeftBehind(it.evidence, one, receipt)
      ? []
      : [`${one.ask}: "${seen.content}" came of ${receipt.id}, which is ${receipt.status} and settled nothing`]
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
    if (ask.reported === undefined) return []
    const due = costOf(receipt.price, ask.reported)
    return receipt.settled + receipt.absorbed === due
      ? []
      : [`${ask.id}: ${receipt.id} settled ${receipt.settled} and absorbed ${receipt.absorbed} of ${due}`]
  })

const chargeHasBounds: Rule = (it) =>
  it.evidence.receipts.flatMap((receipt) => {
    if (receipt.settled > receipt.held) return [`${receipt.id} settled ${receipt.settled} of ${receipt.held} held`]
    const ask = askOf(it, receipt)
    if (ask === undefined || receipt.price === undefined) return []
    const most = costOf(receipt.price, ask.atMost)
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
    if (excuse(it.evidence, one, seen.code, ask) !== undefined) return []
    return [`${one.ask}: ${seen.status} ${seen.code} from gateway ${one.gateway} (${seen.requestId})`]
  })

const unavailableSaysWhen: Rule = (it) =>
  answersOf(it)
    .filter(({ seen }) => seen.status === 503 && !/^[1-9]\d*$/.test(seen.retryAfter ?? ""))
    .map(({ one, seen }) => `${one.ask}: 503 ${seen.code} with Retry-After ${seen.retryAfter}`)

const readersAreAnswered: Rule = ({ evidence }) =>
  evidence.readings
    .filter(({ retryAfter, status }) => status !== 200 && (status !== 503 || retryAfter === undefined))
    .map(({ retryAfter, status }) => `receipts were read with ${status} and Retry-After ${retryAfter}`)

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
    const one = receipt.traceId === undefined ? undefined : it.triesByTrace.get(receipt.traceId)
    const contentAt = one === undefined ? undefined : seenOf(one)?.contentAt
    if (receipt.errorCode !== "request_expired" || one === undefined || contentAt === undefined) return []
    const last = lastGift(it.evidence, one)
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

const ended = (state: string): boolean => state === "completed" || state === "failed"

const videosEnd: Rule = ({ evidence }) =>
  evidence.films.jobs.flatMap(({ delivered, events, id, state }) => [
    ...(ended(state) ? [] : [`${id} is ${state}`]),
    ...(!ended(state) || (events === 1 && delivered === 1)
      ? []
      : [`${id} has ${events} events, ${delivered} delivered`])
  ])

const videosAreTold: Rule = ({ evidence: { films } }) => {
  const heard = new Set(films.told.flatMap(({ accepted, event, verified }) => (accepted && verified ? [event] : [])))
  return [
    ...films.told.filter((one) => !one.verified).map(({ event }) => `${event} came with a signature that is wrong`),
    ...films.jobs
      .filter(({ delivered, id }) => delivered > 0 && !heard.has(`evt_${id}`))
      .map(({ id }) => `${id} is delivered, and nobody has heard of it`)
  ]
}

const videosArePaid: Rule = ({ evidence: { films } }) => {
  const spent = films.jobs.reduce((sum, { charged, cost }) => sum + (cost ?? charged), 0n)
  return [
    ...films.jobs
      .filter(({ charged, cost, state }) => cost !== null && cost !== (state === "completed" ? charged : 0n))
      .map(({ charged, cost, id, state }) => `${id} is ${state} and costs ${cost} of ${charged}`),
    ...(films.credited - spent === films.posted
      ? []
      : [`videos come to ${spent} of ${films.credited}, and ${films.posted} is left`])
  ]
}

const videosAreOnce: Rule = ({ evidence: { films } }) => {
  const sold = new Map<string, Set<string>>()
  for (const { id, key } of films.handed) if (id !== undefined) sold.set(key, (sold.get(key) ?? new Set()).add(id))
  const keys = new Set(films.handed.map(({ key }) => key)).size
  const known = new Set(films.jobs.map(({ id }) => id))
  return [
    ...[...sold].flatMap(([key, ids]) => (ids.size === 1 ? [] : [`${key} was sold ${[...ids].join(" and ")}`])),
    ...[...sold].flatMap(([key, ids]) =>
      [...ids].every((id) => known.has(id)) ? [] : [`${key} was sold what there is not`]
    ),
    ...(known.size <= keys ? [] : [`${known.size} videos were made for ${keys} keys`])
  ]
}

const verified: Rule = ({ evidence }) => evidence.faults

/** Every rule, by the promise it proves. */
export const rules: Readonly<Record<string, Rule>> = {
  "credits less what receipts settled are the balances": balances,
  "the use that is told is what the receipts come to": usageIsTold,
  "no hold stands when all is over": noHoldStands,
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
  "a 503 says when to come back": unavailableSaysWhen,
  "readers see their receipts, or a 503": readersAreAnswered,
  "every request ends": nobodyWaitsForEver,
  "every answer has its end while its gateway lives": answersEnd,
  "nothing is given after the end of a hold": nothingIsGivenLate,
  "a gateway that is told to stop ends by itself": deploysEnd,
  "every video ends with one event, delivered": videosEnd,
  "what is delivered was heard, with a signature that is right": videosAreTold,
  "videos cost what their state says": videosArePaid,
  "no video is sold twice": videosAreOnce,
  "ledger verify": verified
}

/** All that the evidence shows to be broken; nothing, where every promise was kept. */
export const audit = (evidence: Evidence): ReadonlyArray<Violation> => {
  const it = caseOf(evidence)
  return Object.entries(rules).flatMap(([rule, check]) => check(it).map((detail) => ({ rule, detail })))
}
