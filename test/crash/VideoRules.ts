/** The auditor's rules for videos and their webhooks. */
import type { Evidence } from "./Evidence.ts"
import { groupBy } from "./EvidenceIndex.ts"
import { wasDisturbed } from "./Excuses.ts"

type Rule = (index: { readonly evidence: Evidence }) => ReadonlyArray<string>

const hasEnded = (state: string): boolean => state === "completed" || state === "failed"

const videosEnd: Rule = ({ evidence }) =>
  evidence.videos.jobs.flatMap(({ delivered, events, id, state }) => [
    ...(hasEnded(state) ? [] : [`${id} is ${state}`]),
    ...(!hasEnded(state) || (events === 1 && delivered === 1)
      ? []
      : [`${id} has ${events} events, ${delivered} delivered`])
  ])

const deliveriesWereReceived: Rule = ({ evidence: { videos } }) => {
  const received = new Set(
    videos.webhooks.flatMap(({ accepted, event, verified }) => (accepted && verified ? [event] : []))
  )
  return [
    ...videos.webhooks.filter((one) => !one.verified).map(({ event }) => `${event} has a wrong signature`),
    ...videos.jobs
      .filter(({ delivered, id }) => delivered > 0 && !received.has(`evt_${id}`))
      .map(({ id }) => `the delivery of ${id} is recorded, and the endpoint did not receive it`)
  ]
}

/** Excused when an outage kept the gateway from recording the delivery. */
const acceptedOnce: Rule = ({ evidence }) =>
  [
    ...groupBy(
      evidence.videos.webhooks.filter(({ accepted }) => accepted),
      ({ event }) => event
    )
  ].flatMap(([event, deliveries]) => {
    const [first, ...more] = deliveries.map(({ at }) => at).toSorted((a, b) => a - b)
    return first === undefined || more.length === 0 || wasDisturbed(evidence, first)
      ? []
      : [
          `the endpoint accepted ${event} ${deliveries.length} times, ${more.map((at) => at - first).join(" and ")} ms after the first`
        ]
  })

const videosCostTheirPrice: Rule = ({ evidence: { videos } }) => {
  const spent = videos.jobs.reduce((sum, { charged, cost }) => sum + (cost ?? charged), 0n)
  return [
    ...videos.jobs
      .filter(({ charged, cost, state }) => cost !== null && cost !== (state === "completed" ? charged : 0n))
      .map(({ charged, cost, id, state }) => `${id} is ${state} and costs ${cost} of ${charged}`),
    ...(videos.credited - spent === videos.posted
      ? []
      : [`videos cost ${spent} of ${videos.credited}, and the balance is ${videos.posted}`])
  ]
}

const oneVideoPerKey: Rule = ({ evidence: { videos } }) => {
  const sold = new Map<string, Set<string>>()
  for (const { id, key } of videos.submissions) {
    if (id !== undefined) sold.set(key, (sold.get(key) ?? new Set()).add(id))
  }
  const keys = new Set(videos.submissions.map(({ key }) => key)).size
  const jobs = new Set(videos.jobs.map(({ id }) => id))
  return [
    ...[...sold].flatMap(([key, ids]) => (ids.size === 1 ? [] : [`${key} bought ${[...ids].join(" and ")}`])),
    ...[...sold].flatMap(([key, ids]) =>
      [...ids].every((id) => jobs.has(id)) ? [] : [`${key} bought a video that does not exist`]
    ),
    ...(jobs.size <= keys ? [] : [`${jobs.size} videos exist for ${keys} keys`])
  ]
}

/** Every rule for videos, by the promise that it checks. */
export const videoRules = {
  "every video ends with one delivered event": videosEnd,
  "every recorded delivery reached the endpoint with a valid signature": deliveriesWereReceived,
  "no accepted webhook is delivered again": acceptedOnce,
  "a completed video costs its price, a failed one nothing": videosCostTheirPrice,
  "no idempotency key buys two videos": oneVideoPerKey
} satisfies Readonly<Record<string, Rule>>
