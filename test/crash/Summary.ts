/** The report of a run in Markdown. */
import { rules, type Violation } from "./Audit.ts"
import type { Evidence, Outage } from "./Evidence.ts"
import { answerOf } from "./EvidenceIndex.ts"
import { standstills } from "./Excuses.ts"
import { kinds } from "./Faults.ts"
import { phases, type Report } from "./Run.ts"

const countBy = (all: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> =>
  [...all.reduce((counts, one) => counts.set(one, (counts.get(one) ?? 0) + 1), new Map<string, number>())].toSorted(
    ([a], [b]) => (a < b ? -1 : 1)
  )

/** The command that repeats the run. */
export const replayCommand = ({ options }: Report): string =>
  `npm run crash -- --seed ${options.seed} ${kinds.map((kind) => `--${kind} ${options.counts[kind]}`).join(" ")}` +
  ` --gateways ${options.gateways} --clients ${options.clients} --within ${options.withinMs / 1000}` +
  ` --minutes ${options.minutes}`

/** The number of kills that interrupted a request; the others prove nothing. */
const killsUnderLoad = ({ attempts, gateways }: Evidence): number =>
  gateways
    .flatMap(({ kills }, gateway) => kills.map(({ from }) => ({ from, gateway })))
    .filter(({ from, gateway }) =>
      attempts.some(
        (one) => one.gateway === gateway && one.outcome._tag === "Lost" && one.startedAt <= from && one.endedAt >= from
      )
    ).length

/** The number of attempts in flight when an outage of their gateway or of the database began. */
const inFlightAtFault = ({ attempts, gateways, outages, slows }: Evidence): number => {
  const database = [...outages, ...slows]
  const starts = gateways.map(({ deploys, kills, partitions, pauses }) =>
    [...database, ...kills, ...deploys, ...partitions, ...pauses].map(({ from }) => from)
  )
  return attempts.filter(({ endedAt, gateway, startedAt }) =>
    starts[gateway]?.some((from) => startedAt <= from && endedAt >= from)
  ).length
}

const standstillsMs = (evidence: Evidence): ReadonlyArray<number> =>
  evidence.gateways.flatMap((_, gateway) => standstills(evidence, gateway).map(({ from, to }) => to - from))

const MIB = 2 ** 20

/** The number of requests that reached a gateway. */
export const requestsOf = ({ attempts }: Evidence): number =>
  attempts.filter(({ outcome }) => outcome._tag !== "Refused").length

/** One round in one line. `requests` counts those of all rounds so far. */
export const roundLine = (report: Report, round: number, requests: number): string => {
  const { done, evidence, options, seconds, violations } = report
  const faults = kinds.flatMap((kind) => (done[kind] === 0 ? [] : [`${done[kind]} ${kind}`]))
  return [
    `round ${round}`,
    `seed ${options.seed}`,
    `${seconds} s`,
    ...faults,
    `${requestsOf(evidence)} requests (${Math.round(requestsOf(evidence) / Math.max(1, seconds))}/s)`,
    `${inFlightAtFault(evidence)} in flight at a fault`,
    `${requests} in all`,
    phases.map((phase) => `${phase} ${Math.round(report.phases[phase] / 1000)}`).join(" "),
    `${Math.round(process.memoryUsage.rss() / MIB)} MiB`,
    violations.length === 0 ? "every promise kept" : `${violations.length} violations`
  ].join(", ")
}

/** Formats a moment in seconds since the first request. */
const secondsSince = ({ attempts }: Evidence): ((at: number) => string) => {
  const start = attempts[0]?.startedAt ?? 0
  return (at) => ((at - start) / 1000).toFixed(1)
}

/** The outages, in order. */
const timelineOf = (evidence: Evidence): ReadonlyArray<string> => {
  const { gateways, outages, slows } = evidence
  const since = secondsSince(evidence)
  const line = (what: string, times: ReadonlyArray<Outage>) =>
    times.map(({ from, to }) => ({ from, text: `- ${since(from)} to ${since(to)} s: ${what}` }))
  return [
    ...line("database away", outages),
    ...line("database's disk slow", slows),
    ...gateways.flatMap((ofGateway, gateway) =>
      Object.entries(ofGateway).flatMap(([cause, times]) => line(`gateway ${gateway}, ${cause}`, times))
    )
  ]
    .toSorted((a, b) => a.from - b.from)
    .map(({ text }) => text)
}

/** The attempts of the operations that a violation names. */
const attemptsOf = (evidence: Evidence, violations: ReadonlyArray<Violation>): ReadonlyArray<string> => {
  const since = secondsSince(evidence)
  return evidence.attempts
    .filter(({ operation }) => violations.some(({ detail }) => new RegExp(`\\b${operation}\\b`).test(detail)))
    .map((one) => {
      const answer = answerOf(one)
      const what = answer === undefined ? "" : ` ${answer.status} ${answer.code ?? ""} ${answer.requestId}`
      const times = `${since(one.startedAt)} to ${since(one.endedAt)} s`
      return `- ${one.operation} at gateway ${one.gateway}, ${times}: ${one.outcome._tag}${what}`
    })
}

const LOG_LINES = 150

/** The last lines of each gateway's log. */
const logsOf = ({ evidence, logs }: Report): ReadonlyArray<string> => {
  const since = secondsSince(evidence)
  const timeOf = (line: string) => Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? "")
  return logs.flatMap((lines, gateway) =>
    lines.slice(-LOG_LINES).map((line) => `- gateway ${gateway}, ${since(timeOf(line))} s: ${line.slice(0, 500)}`)
  )
}

/** The summary of a run: its figures, every promise, and the details of each violation. */
export const summaryOf = (report: Report): string => {
  const { done, evidence, violations } = report
  const { attempts, calls, outages, receiptReads, receipts } = evidence
  const dialects = new Map(evidence.operations.map(({ dialect, id }) => [id, dialect]))
  const dialectOf = (operation: string) => dialects.get(operation) ?? "of no operation"
  const answers = attempts.flatMap((one) => answerOf(one) ?? [])
  const expired = receipts.filter(({ errorCode }) => errorCode === "request_expired")
  const outcomes = countBy(attempts.map(({ outcome }) => outcome._tag))
  const statuses = countBy(answers.map(({ code, status }) => (code === undefined ? `${status}` : `${status} ${code}`)))
  const figures: ReadonlyArray<readonly [string, number | string]> = [
    ["seed", report.options.seed],
    ["seconds", report.seconds],
    ...phases.map((phase) => [`of them ${phase}`, Math.round(report.phases[phase] / 1000)] as const),
    ...kinds.map((kind) => [kind, done[kind]] as const),
    ["kills with requests in flight", killsUnderLoad(evidence)],
    ["longest outage of the database, ms", Math.max(0, ...outages.map(({ from, to }) => to - from))],
    ["longest standstill of a gateway, ms", Math.max(0, ...standstillsMs(evidence))],
    ["requests", requestsOf(evidence)],
    ["of them in flight at a fault", inFlightAtFault(evidence)],
    ["longest of them, ms", Math.max(0, ...attempts.map(({ endedAt, startedAt }) => endedAt - startedAt))],
    ["complete answers", answers.filter(({ complete }) => complete).length],
    ...countBy(
      attempts.flatMap((one) => (answerOf(one)?.complete === true ? [`of them ${dialectOf(one.operation)}`] : []))
    ),
    ["of them replays", answers.filter(({ replayed, complete }) => complete && replayed).length],
    ...outcomes.map(([outcome, count]) => [outcome.toLowerCase(), count] as const),
    ...statuses.map(([status, count]) => [status, count] as const),
    ...countBy(receiptReads.map(({ status }) => `reads of receipts, ${status}`)),
    ["calls of providers", calls.length],
    ["receipts", receipts.length],
    ["expired holds", expired.length],
    ["of them with recorded progress", expired.filter(({ progress }) => progress > 0n).length],
    ["receipts with an absorbed cost", receipts.filter(({ absorbed }) => absorbed > 0n).length],
    ...countBy(evidence.videos.jobs.map(({ state }) => `videos ${state}`)),
    ["webhooks received", evidence.videos.webhooks.length],
    ["errors logged", report.logged.length]
  ]
  const promises = Object.keys(rules).map((rule) => {
    const broken = violations.filter((violation) => violation.rule === rule).length
    return `| ${rule} | ${broken === 0 ? "kept" : `broken ${broken} times`} |`
  })
  return [
    `# ${violations.length === 0 ? "Every promise was kept" : `${violations.length} violations`}`,
    "",
    "| | |",
    "|---|---|",
    ...figures.map(([name, value]) => `| ${name} | ${value} |`),
    "",
    "| Promise | |",
    "|---|---|",
    ...promises,
    "",
    ...violations.map(({ detail, rule }) => `- ${rule}: ${detail}`),
    ...(violations.length === 0
      ? []
      : ["", ...attemptsOf(evidence, violations), "", ...timelineOf(evidence), "", ...logsOf(report)]),
    ...report.logged.slice(0, 20).map((line) => `- logged: ${line.slice(0, 400)}`),
    "",
    `To repeat: \`${replayCommand(report)}\``,
    ""
  ].join("\n")
}
