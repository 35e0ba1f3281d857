/** wrk, which uses less processor time than any load generator in JavaScript. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { BenchError } from "./BenchError.ts"
import type { Outcome } from "./Load.ts"
import { runToEnd } from "./Processes.ts"
import { bodyOf, type Endpoint } from "./Traffic.ts"

/** wrk reads each answer by its length, and counts every status other than 2xx and 3xx. */
const script = (endpoint: Endpoint) => `
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
${Object.entries(endpoint.headers ?? {})
  .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  .join("\n")}
wrk.body = [==[${bodyOf(endpoint, false)}]==]
local requests = {}
local sent = 0
init = function()
  for _, key in ipairs({${(endpoint.keys ?? [endpoint.key]).map((key) => `"${key}"`).join(", ")}}) do
    wrk.headers["authorization"] = "Bearer " .. key
    requests[#requests + 1] = wrk.format()
  end
end
request = function()
  sent = sent + 1
  return requests[1 + sent % #requests]
end
done = function(summary)
  local e = summary.errors
  io.write(string.format('\\nfigures {"requests":%d,"microseconds":%d,"failed":%d,"errors":"connect %d, read %d, write %d, status %d, timeout %d"}\\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    e.connect, e.read, e.write, e.status, e.timeout))
end
`

interface Figures {
  readonly requests: number
  readonly microseconds: number
  readonly failed: number
  readonly errors: string
}

/** Runs this many callers for this many seconds. */
export const wrk = Effect.fnUntraced(function* (
  directory: string,
  endpoint: Endpoint,
  options: { readonly concurrency: number; readonly seconds: number }
) {
  const file = join(directory, "post.lua")
  yield* Effect.sync(() => writeFileSync(file, script(endpoint)))
  const printed = yield* runToEnd({
    name: "wrk",
    program: "wrk",
    args: [
      "-t",
      "1",
      "-c",
      String(options.concurrency),
      "-d",
      `${options.seconds}s`,
      "--timeout",
      "10s",
      "-s",
      file,
      `http://127.0.0.1:${endpoint.port}${endpoint.path}`
    ]
  })
  const line = /^figures (.*)$/m.exec(printed)?.[1]
  if (line === undefined) return yield* new BenchError({ message: `wrk printed no figures: ${printed}` })
  const { errors, failed, microseconds, requests } = JSON.parse(line) as Figures
  return {
    completed: requests - failed,
    seconds: microseconds / 1_000_000,
    latencies: [],
    firstTokens: [],
    failed,
    example: failed === 0 ? undefined : errors
  } satisfies Outcome
})
