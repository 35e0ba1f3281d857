/** What a run came to, in Markdown. */
import { rules, type Violation } from "./Audit.ts"
import { seenOf } from "./Case.ts"
import { standstills } from "./Excuses.ts"
import { kinds } from "./Faults.ts"
import type { Evidence, Outage } from "./Notes.ts"
import { parts, type Report } from "./Run.ts"

const countBy = (all: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> =>
  [...all.reduce((counts, one) => counts.set(one, (counts.get(one) ?? 0) + 1), new Map<string, number>())].toSorted(
    ([a], [b]) => (a < b ? -1 : 1)
  )

/** The command that does the same again. */
export const replayOf = ({ options }: Report): string =>
  `npm run crash -- --seed ${options.seed} ${kinds.map((kind) => `--${kind} ${options.counts[kind]}`).join(" ")}` +
  ` --gateways ${options.gateways} --clients ${options.clients} --within ${options.withinMs / 1000}` +
  ` --minutes ${options.minutes}`

/** Kills that met requests under way: those prove something. */
const felt = ({ gateways, tries }: Evidence): number =>
  gateways
    .flatMap(({ deaths }, gateway) => deaths.map(({ from }) => ({ from, gateway })))
    .filter(({ from, gateway }) =>
      tries.some(
        (one) => one.gateway === gateway && one.ending._tag === "Lost" && one.startedAt <= from && one.endedAt >= from
      )
    ).length

/** How many tries were under way when something that they needed began to be away. */
const metBy = ({ gateways, outages, slows, tries }: Evidence): number => {
  const database = [...outages, ...slows]
  const away = gateways.map(({ deaths, deploys, partitions, pauses }) =>
    [...database, ...deaths, ...deploys, ...partitions, ...pauses].map(({ from }) => from)
  )
  return tries.filter(({ endedAt, gateway, startedAt }) =>
    away[gateway]?.some((from) => startedAt <= from && endedAt >= from)
  ).length
}

/** How long gateways stood still, in milliseconds. */
const stillOf = (evidence: Evidence): ReadonlyArray<number> =>
  evidence.gateways.flatMap((_, gateway) => standstills(evidence, gateway).map(({ from, to }) => to - from))

const MIB = 2 ** 20

/** How many requests reached a gateway. */
export const requestsOf = ({ tries }: Evidence): number =>
  tries.filter(({ ending }) => ending._tag !== "Refused").length

/** What a round came to, in one line. `requests` are those of all rounds so far. */
export const lineOf = (report: Report, round: number, requests: number): string => {
  const { done, evidence, options, seconds, violations } = report
  const faults = kinds.flatMap((kind) => (done[kind] === 0 ? [] : [`${done[kind]} ${kind}`]))
  return [
    `round ${round}`,
    `seed ${options.seed}`,
    `${seconds} s`,
    ...faults,
    `${requestsOf(evidence)} requests (${Math.round(requestsOf(evidence) / Math.max(1, seconds))}/s)`,
    `${metBy(evidence)} met by a fault`,
    `${requests} in all`,
    parts.map((part) => `${part} ${Math.round(report.parts[part] / 1000)}`).join(" "),
    `${Math.round(process.memoryUsage.rss() / MIB)} MiB`,
    violations.length === 0 ? "every promise kept" : `${violations.length} violations`
  ].join(", ")
}

/** When what was away, in seconds since the first request. */
const timelineOf = ({ gateways, outages, slows, tries }: Evidence): ReadonlyArray<string> => {
  const start = tries[0]?.startedAt ?? 0
  const since = (at: number) => ((at - start) / 1000).toFixed(1)
  const line = (what: string, times: ReadonlyArray<Outage>) =>
    times.map(({ from, to }) => ({ from, text: `- ${since(from)} to ${since(to)} s: ${what}` }))
  return [
    ...line("the database away", outages),
    ...line("the database's disk slow", slows),
    ...gateways.flatMap((troubles, gateway) =>
      Object.entries(troubles).flatMap(([name, times]) => line(`gateway ${gateway}, ${name}`, times))
    )
  ]
    .toSorted((a, b) => a.from - b.from)
    .map(({ text }) => text)
}

/** The tries of the asks that a violation names, in seconds since the first request. */
const triesOf = ({ tries }: Evidence, violations: ReadonlyArray<Violation>): ReadonlyArray<string> => {
  const start = tries[0]?.startedAt ?? 0
  const since = (at: number) => ((at - start) / 1000).toFixed(1)
  return tries
    .filter(({ ask }) => violations.some(({ detail }) => new RegExp(`\\b${ask}\\b`).test(detail)))
    .map((one) => {
      const seen = seenOf(one)
      const what = seen === undefined ? "" : ` ${seen.status} ${seen.code ?? ""} ${seen.requestId}`
      const times = `${since(one.startedAt)} to ${since(one.endedAt)} s`
      return `- ${one.ask} at gateway ${one.gateway}, ${times}: ${one.ending._tag}${what}`
    })
}

const LOG_LINES = 150

/** The last lines that gateways logged, in seconds since the first request. */
const logsOf = ({ evidence: { tries }, logs }: Report): ReadonlyArray<string> => {
  const start = tries[0]?.startedAt ?? 0
  const timeOf = (line: string) => Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? "")
  return logs.flatMap((lines, gateway) =>
    lines
      .slice(-LOG_LINES)
      .map((line) => `- gateway ${gateway}, ${((timeOf(line) - start) / 1000).toFixed(1)} s: ${line.slice(0, 500)}`)
  )
}

/** The summary of a run: what was done, what was seen, and every promise with whether it was kept. */
export const summaryOf = (report: Report): string => {
  const { done, evidence, violations } = report
  const { calls, outages, readings, receipts, tries } = evidence
  const dialects = new Map(evidence.asks.map(({ dialect, id }) => [id, dialect]))
  const dialectOf = (ask: string) => dialects.get(ask) ?? "of no ask"
  const seen = tries.flatMap((one) => seenOf(one) ?? [])
  const expired = receipts.filter(({ errorCode }) => errorCode === "request_expired")
  const endings = countBy(tries.map(({ ending }) => ending._tag))
  const statuses = countBy(seen.map(({ code, status }) => (code === undefined ? `${status}` : `${status} ${code}`)))
  const figures: ReadonlyArray<readonly [string, number | string]> = [
    ["seed", report.options.seed],
    ["seconds", report.seconds],
    ...parts.map((part) => [`of them ${part}`, Math.round(report.parts[part] / 1000)] as const),
    ...kinds.map((kind) => [kind, done[kind]] as const),
    ["kills with requests under way", felt(evidence)],
    ["longest without database, ms", Math.max(0, ...outages.map(({ from, to }) => to - from))],
    ["longest standstill of a gateway, ms", Math.max(0, ...stillOf(evidence))],
    ["requests", requestsOf(evidence)],
    ["of them met by a fault", metBy(evidence)],
    ["longest of them, ms", Math.max(0, ...tries.map(({ endedAt, startedAt }) => endedAt - startedAt))],
    ["whole answers", seen.filter(({ whole }) => whole).length],
    ...countBy(tries.flatMap((one) => (seenOf(one)?.whole === true ? [`of them ${dialectOf(one.ask)}`] : []))),
    ["of them replays", seen.filter(({ replayed, whole }) => whole && replayed).length],
    ...endings.map(([ending, count]) => [ending.toLowerCase(), count] as const),
    ...statuses.map(([status, count]) => [status, count] as const),
    ...countBy(readings.map(({ status }) => `receipts read, ${status}`)),
    ["calls of providers", calls.length],
    ["receipts", receipts.length],
    ["holds that expired", expired.length],
    ["of them with progress recorded", expired.filter(({ progress }) => progress > 0n).length],
    ["absorbed by the house", receipts.filter(({ absorbed }) => absorbed > 0n).length],
    ...countBy(evidence.videos.jobs.map(({ state }) => `videos ${state}`)),
    ["webhooks received", evidence.videos.told.length],
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
      : ["", ...triesOf(evidence, violations), "", ...timelineOf(evidence), "", ...logsOf(report)]),
    ...report.logged.slice(0, 20).map((line) => `- logged: ${line.slice(0, 400)}`),
    "",
    `Again: \`${replayOf(report)}\``,
    ""
  ].join("\n")
}
