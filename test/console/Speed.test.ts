/** How fast the pages of the console load, whether their layout shifts, and how smoothly a long list scrolls, in a browser. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { writeReceipts } from "../bench/ReceiptsSql.ts"
import { missingBrowser, type Page, settled } from "../support/Browser.ts"
import { ownerPage, ownerStage } from "../support/OwnerConsole.ts"
import { announceSkip } from "../support/Skips.ts"
import { post } from "../support/Service.ts"

announceSkip("the speed of the console's pages", missingBrowser)

const WAIT_MS = 30_000
const RECEIPTS = 4_000
/** The largest layout shift, as browsers count it. It does not depend on the machine. */
const MAX_SHIFT = 0.05
/** Idle machines need at most 1,000 and 1,500 ms. A machine that runs other tests needs a multiple. */
const MAX_PAINT_MS = 8_000
const MAX_DATA_MS = 12_000
/** The longest task of the page's thread, in processor time, which does not grow while other programs run. */
const MAX_TASK_MS = 50
/** The longest time between two frames. On an idle machine it is 50 ms. */
const MAX_GAP_MS = 1_000

const paths = [
  ...["/overview", "/explorer?range=30d", "/requests?range=7d", "/playground", "/models", "/models/gpt-4o", "/keys"],
  ...["/projects", "/presets", "/webhooks", "/batches", "/videos", "/batches/files", "/billing", "/audit", "/settings"]
]

class Stage extends Context.Service<Stage, Effect.Success<typeof ownerStage>>()("test/console/SpeedStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => ownerStage)
  )
}

/** Opens a page of an owner with thousands of receipts, the last of them a real one. */
const signedIn = Effect.gen(function* () {
  const stage = yield* Stage
  const { service } = stage
  const { account, inferenceKey, origin, page } = yield* ownerPage(stage)
  page.setDefaultTimeout(WAIT_MS)
  const everyMs = (6 * 86_400_000) / RECEIPTS
  const startMs = Date.now() - RECEIPTS * everyMs - 60_000
  yield* writeReceipts(service.sql, account.id, { from: 0, to: RECEIPTS, startMs, everyMs })
  const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
  const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
  return { page, origin, receipt: answer.headers.get("x-request-id") ?? "" }
})

/** Records every layout shift that no input caused, starting before the page's own scripts. */
const noteShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: Array<number> = []
    Object.assign(globalThis, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as ReadonlyArray<{ value: number; hadRecentInput: boolean }>) {
        if (!entry.hadRecentInput) shifts.push(entry.value)
      }
    }).observe({ type: "layout-shift", buffered: true })
  })

interface Figures {
  readonly path: string
  readonly paintMs: number
  readonly dataMs: number
  readonly shift: number
}

const figuresOf = async (page: Page, url: string, path: string): Promise<Figures> => {
  await page.goto(url)
  await settled(page)
  const dataMs = await page.evaluate(() => performance.now())
  // Late content can shift the layout too.
  await page.waitForLoadState("networkidle")
  return {
    path,
    dataMs,
    ...(await page.evaluate(() => ({
      paintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
      shift: (globalThis as unknown as { shifts: ReadonlyArray<number> }).shifts.reduce((sum, value) => sum + value, 0)
    })))
  }
}

/** An event of a recorded trace about a frame or the work between two. Times are in microseconds. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  /** Processor time. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

const framesAndTasks = (events: ReadonlyArray<TraceEvent>) => {
  const isMain = new Set(
    events
      .filter(({ args, name }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`)
  )
  const frames = events.filter(({ name }) => name === "DrawFrame").map(({ ts }) => ts / 1_000)
  const gaps = frames.toSorted((one, other) => one - other).map((at, index, all) => at - (all[index - 1] ?? at))
  const tasks = events.filter(({ name, pid, tid }) => name.endsWith("RunTask") && isMain.has(`${pid} ${tid}`))
  return {
    frames: frames.length,
    gapMs: Math.max(...gaps),
    taskMs: Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000))
  }
}

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the pages of the console", (it) => {
  it.effect(
    "paint and show their data in time, and do not shift their layout",
    () =>
      Effect.gen(function* () {
        const { origin, page, receipt } = yield* signedIn
        const figures = yield* Effect.promise(async () => {
          await noteShifts(page)
          const month = new Date().toISOString().slice(0, 7)
          const all: Array<Figures> = []
          for (const path of [...paths, `/requests/${receipt}`, `/billing/statements/${month}`]) {
            all.push(await figuresOf(page, origin + path, path))
          }
          return all
        })
        console.table(
          figures.map(({ dataMs, paintMs, path, shift }) => ({
            path,
            paint: Math.round(paintMs),
            data: Math.round(dataMs),
            shift: Number(shift.toFixed(4))
          }))
        )
        for (const { dataMs, paintMs, path, shift } of figures) {
          assert.isAtMost(shift, MAX_SHIFT, `the layout of ${path} shifts`)
          assert.isAtMost(paintMs, MAX_PAINT_MS, `the first paint of ${path}`)
          assert.isAtMost(dataMs, MAX_DATA_MS, `the data of ${path}`)
        }
      }),
    180_000
  )

  it.effect(
    "scroll through thousands of requests without a long task or a long gap between frames",
    () =>
      Effect.gen(function* () {
        const { chromium } = yield* Stage
        const { origin, page } = yield* signedIn
        const measured = yield* Effect.promise(async () => {
          await page.goto(`${origin}/requests?range=7d`)
          await settled(page)
          const rows = page.getByRole("table", { name: /Requests/ })
          await rows.hover()
          await chromium.startTracing(page, {
            categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline.frame", "__metadata"]
          })
          // The page's own frames drive the scrolling, so that a slow machine scrolls as far as a fast one.
          const lastRow = await rows.evaluate(async (viewport) => {
            for (let frame = 0; frame < 240; frame++) {
              viewport.scrollTop += 300
              await new Promise(requestAnimationFrame)
            }
            return Math.max(...[...viewport.querySelectorAll("[aria-rowindex]")].map((row) => Number(row.ariaRowIndex)))
          })
          const trace = JSON.parse((await chromium.stopTracing()).toString()) as { traceEvents: Array<TraceEvent> }
          return { ...framesAndTasks(trace.traceEvents), lastRow }
        })
        console.table([measured])
        assert.isAbove(measured.lastRow, 500)
        assert.isAbove(measured.frames, 100)
        assert.isAtMost(measured.taskMs, MAX_TASK_MS)
        assert.isAtMost(measured.gapMs, MAX_GAP_MS)
      }),
    120_000
  )
})
