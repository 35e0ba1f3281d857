/** The command that exports the receipts of a day. */
import { Clock, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { OperatorEvents } from "../account/OperatorEvents.ts"
import { OPERATOR } from "../billing/Customers.ts"
import { DAY_MS } from "../domain/Day.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { receiptOf } from "../http/handlers/Requests.ts"
import { attemptsCostIn, providerCostIn } from "../inference/Receipt.ts"
import { Config } from "../platform/config/Config.ts"
import { DataDirectory, makeMissing } from "../platform/database/DataDirectory.ts"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { Outbound } from "../platform/outbound/Outbound.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { booksBetween, type DayBooks, type RequestRow, requestsBetween } from "../usage/RequestsSql.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"
import { isUrl, type BucketTarget, targetOf, receiptsBucket } from "./ReceiptsBucket.ts"
import {
  type ExportedAmounts,
  finishedExport,
  type Manifest,
  namesOf,
  ReceiptsFile,
  type Totals
} from "./ReceiptsFile.ts"

/** The delay after the end of a day before its export. A request that arrives at the end of a day takes its hold within this time. */
const SETTLING_MS = 3_600_000

/** The number of receipts that one statement returns. */
const PAGE_ROWS = 1_000

const lineOf = (row: RequestRow): ExportedAmounts => {
  const cost = providerCostIn(row.closed)
  return {
    ...receiptOf(row),
    account_id: row.account_id,
    provider_cost_usd: cost === null ? null : usdFromNano(cost),
    attempt_cost_usd: usdFromNano(attemptsCostIn(row.closed)),
    settled_nano_usd: String(row.settled),
    refunded_nano_usd: String(row.refunded)
  } as ExportedAmounts
}

/** Describes how the file differs from the books; undefined when it does not. */
const differenceOf = ({ receipts, refunded, settled }: Totals, books: DayBooks): string | undefined => {
  if (BigInt(receipts) !== books.receipts) return `${receipts} receipts for ${books.receipts} requests`
  if (settled !== books.charged) return `${formatUsd(settled)} settled for transfers of ${formatUsd(books.charged)}`
  if (refunded !== books.refunded)
    return `${formatUsd(refunded)} refunded for ${formatUsd(books.refunded)} in the books`
  return undefined
}

const refuse = (message: string) => Effect.fail(new CommandRefused({ message }))

const rangeOf = (day: string) => ({
  from: firstRequestIdAt(Date.parse(day)),
  until: firstRequestIdAt(Date.parse(day) + DAY_MS)
})

const exported = Effect.fnUntraced(function* (day: string, directory: string) {
  const sql = yield* SqlClient.SqlClient
  if ((yield* Clock.currentTimeMillis) < Date.parse(day) + DAY_MS + SETTLING_MS)
    return yield* refuse(`\`--day\` must have ended over an hour ago (UTC); got ${day}`)
  const range = rangeOf(day)
  const before = yield* storeErrors(booksBetween(sql, range))
  if (before.open > 0n) return yield* refuse(`All requests of ${day} must have ended; ${before.open} have not`)
  const file = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => ReceiptsFile.open(directory, day),
      catch: (error) =>
        new CommandRefused({
          message: `The directory of the export must be writable; ${error instanceof Error ? error.message : String(error)}.`
        })
    }),
    (opened) => Effect.sync(() => opened.close())
  )
  let rows: ReadonlyArray<RequestRow>
  do {
    rows = yield* storeErrors(requestsBetween(sql, range, file.lastId, PAGE_ROWS))
    file.append(rows.map(lineOf))
  } while (rows.length === PAGE_ROWS)
  const difference = differenceOf(file.totals, yield* storeErrors(booksBetween(sql, range)))
  if (difference === undefined) return yield* Effect.promise(() => file.finish(day))
  file.discard()
  return yield* refuse(`The books of ${day} changed during the export (${difference}); nothing was kept. Run it again`)
}, Effect.scoped)

const textOf = (manifest: Manifest, directory: string, isNew: boolean): string => {
  const { file } = namesOf(directory, manifest.day)
  const cost = formatUsd(BigInt(manifest.cost_nano_usd))
  return isNew
    ? `Exported ${manifest.receipts} receipts of ${manifest.day} to ${file}. They cost ${cost}, as the books have it.`
    : `${file} already has the ${manifest.receipts} receipts of ${manifest.day}, which cost ${cost}.`
}

/** Removes the finished file of a day from the data directory. */
const unstage = (directory: string, day: string) => {
  const { file, manifest } = namesOf(directory, day)
  for (const name of [manifest, file]) rmSync(name, { force: true })
}

/** Returns the day in the data directory. Reuses the file of an earlier run while it is unchanged and still equals the books. */
const staged = Effect.fnUntraced(function* (day: string, directory: string) {
  const there = yield* Effect.promise(() => finishedExport(namesOf(directory, day)))
  if (there !== undefined && there !== "changed") {
    const totals = {
      receipts: there.receipts,
      settled: BigInt(there.settled_nano_usd),
      refunded: BigInt(there.refunded_nano_usd)
    }
    const sql = yield* SqlClient.SqlClient
    if (differenceOf(totals, yield* storeErrors(booksBetween(sql, rangeOf(day)))) === undefined) return there
  }
  // The lines of a changed file may differ where their sums do not, so none of them is kept.
  if (there !== undefined) unstage(directory, day)
  return yield* exported(day, directory)
})

/** Writes the export of a day into the audit log. */
const record = (day: string, type: "receipts.export_started" | "receipts.exported", changes: object) =>
  Effect.flatMap(OperatorEvents, (events) =>
    storeErrors(events.append({ type, actor: OPERATOR, resource: { type: "receipts", id: day }, changes }))
  )

/** Writes the day into a directory, and then an event into the audit log. */
const toDirectory = Effect.fnUntraced(function* (day: string, to: string) {
  const names = namesOf(to, day)
  const before = yield* Effect.promise(() => finishedExport(names))
  if (before === "changed")
    return yield* refuse(`${names.file} is not what ${names.manifest} says; remove both to export the day again`)
  const write = Effect.gen(function* () {
    const written = yield* exported(day, to)
    yield* record(day, "receipts.exported", { to, ...written })
    return written
  })
  const manifest = before ?? (yield* write)
  yield* print({ json: manifest, text: textOf(manifest, to, before === undefined) })
})

/**
 * Sends the day to the bucket from the data directory. The audit log has one event before the first object is sent and one after the
 * last. A run that ended before the second leaves the file behind, from which the next run knows that the event is missing.
 */
const toBucket = Effect.fnUntraced(function* (day: string, to: string, target: BucketTarget) {
  const { files } = yield* Config
  if (files.s3 === undefined)
    return yield* refuse(
      `\`--to\` must be a directory unless S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are set; got ${to}`
    )
  const bucket = receiptsBucket(files.s3, target, day, yield* Outbound)
  const before = yield* bucket.finished
  if (before === "changed")
    return yield* refuse(
      `${bucket.manifestKey} or an object that it names has changed; remove the manifest to export the day again`
    )
  const staging = join((yield* DataDirectory).path, "exports")
  // Other accounts of the machine may search the data directory.
  makeMissing(staging)
  const send = Effect.gen(function* () {
    const { file, ...facts } = yield* staged(day, staging)
    yield* record(day, "receipts.export_started", { to, ...facts })
    return yield* bucket.upload(join(staging, file), facts)
  })
  const manifest = before ?? (yield* send)
  const left = yield* Effect.promise(() => finishedExport(namesOf(staging, day)))
  if (typeof left === "object" && left.sha256 === manifest.sha256 && left.exported_at === manifest.exported_at) {
    const { parts, ...facts } = manifest
    yield* record(day, "receipts.exported", { to, ...facts, parts: parts.length })
    unstage(staging, day)
  }
  const many = `${manifest.receipts} receipts of ${day} in ${manifest.parts.length} objects`
  const cost = formatUsd(BigInt(manifest.cost_nano_usd))
  yield* print({
    json: manifest,
    text:
      before === undefined
        ? `Exported ${many} to ${to}. They cost ${cost}, as the books have it.`
        : `${to} already has the ${many}, which cost ${cost}.`
  })
})

const receipts = Command.make(
  "receipts",
  { day: Flags.exportDay, to: Flags.exportTo },
  Effect.fn("export receipts")(function* ({ day, to }) {
    if (isUrl(to)) {
      const target = targetOf(to)
      return yield* target === undefined
        ? refuse(`\`--to\` must be a directory or s3://bucket/prefix; got ${to}`)
        : toBucket(day, to, target)
    }
    return yield* toDirectory(day, to)
  })
).pipe(
  Command.withDescription(
    "Write the receipts of a day that has ended as JSON Lines, with a manifest; again changes nothing"
  ),
  Command.withExamples([
    { command: "npm run admin -- export receipts --day 2026-01-31 --to /exports" },
    { command: "npm run admin -- export receipts --day 2026-01-31 --to s3://receipts/tollgate" }
  ]),
  Command.provide(Layer.provideMerge(Outbound.layer, database))
)

export const exportCommand = Command.make("export").pipe(
  Command.withDescription("Export receipts to files or a bucket"),
  Command.withSubcommands([receipts])
)
