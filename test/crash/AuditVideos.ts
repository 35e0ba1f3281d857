/** What the auditor asks of videos and of the webhooks that tell of them. */
import { groupBy } from "./Case.ts"
import { wasDisturbed } from "./Excuses.ts"
import type { Evidence } from "./Notes.ts"

type Rule = (it: { readonly evidence: Evidence }) => ReadonlyArray<string>

const ended = (state: string): boolean => state === "completed" || state === "failed"

const videosEnd: Rule = ({ evidence }) =>
  evidence.videos.jobs.flatMap(({ delivered, events, id, state }) => [
    ...(ended(state) ? [] : [`${id} is ${state}`]),
    ...(!ended(state) || (events === 1 && delivered === 1)
      ? []
      : [`${id} has ${events} events, ${delivered} delivered`])
  ])

const videosAreTold: Rule = ({ evidence: { videos } }) => {
  const heard = new Set(videos.told.flatMap(({ accepted, event, verified }) => (accepted && verified ? [event] : [])))
  return [
    ...videos.told.filter((one) => !one.verified).map(({ event }) => `${event} came with a signature that is wrong`),
    ...videos.jobs
      .filter(({ delivered, id }) => delivered > 0 && !heard.has(`evt_${id}`))
      .map(({ id }) => `${id} is delivered, and nobody has heard of it`)
  ]
}

/** A message is sent again after it was accepted only where what was to note that went away. */
const acceptedOnce: Rule = ({ evidence }) =>
  [
    ...groupBy(
      evidence.videos.told.filter(({ accepted }) => accepted),
      ({ event }) => event
    )
  ].flatMap(([event, times]) => {
    const [first, ...more] = times.map(({ at }) => at).toSorted((a, b) => a - b)
    return first === undefined || more.length === 0 || wasDisturbed(evidence, first)
      ? []
      : [
          `${event} was accepted ${times.length} times, ${more.map((at) => at - first).join(" and ")} ms after the first`
        ]
  })

const videosArePaid: Rule = ({ evidence: { videos } }) => {
  const spent = videos.jobs.reduce((sum, { charged, cost }) => sum + (cost ?? charged), 0n)
  return [
    ...videos.jobs
      .filter(({ charged, cost, state }) => cost !== null && cost !== (state === "completed" ? charged : 0n))
      .map(({ charged, cost, id, state }) => `${id} is ${state} and costs ${cost} of ${charged}`),
    ...(videos.credited - spent === videos.posted
      ? []
      : [`videos come to ${spent} of ${videos.credited}, and ${videos.posted} is left`])
  ]
}

const videosAreOnce: Rule = ({ evidence: { videos } }) => {
  const sold = new Map<string, Set<string>>()
  for (const { id, key } of videos.handed) if (id !== undefined) sold.set(key, (sold.get(key) ?? new Set()).add(id))
  const keys = new Set(videos.handed.map(({ key }) => key)).size
  const known = new Set(videos.jobs.map(({ id }) => id))
  return [
    ...[...sold].flatMap(([key, ids]) => (ids.size === 1 ? [] : [`${key} was sold ${[...ids].join(" and ")}`])),
    ...[...sold].flatMap(([key, ids]) =>
      [...ids].every((id) => known.has(id)) ? [] : [`${key} was sold what there is not`]
    ),
    ...(known.size <= keys ? [] : [`${known.size} videos were made for ${keys} keys`])
  ]
}

/** Every rule of videos, by the promise it proves. */
export const videoRules = {
  "every video ends with one event, delivered": videosEnd,
  "what is delivered was heard, with a signature that is right": videosAreTold,
  "what was accepted is not sent again": acceptedOnce,
  "videos cost what their state says": videosArePaid,
  "no video is sold twice": videosAreOnce
} satisfies Readonly<Record<string, Rule>>
