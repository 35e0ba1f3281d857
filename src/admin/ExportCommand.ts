/** The command that exports the receipts of a day. */
import { Clock, Effect } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { receiptOf } from "../http/handlers/Requests.ts"
import { providerCostIn } from "../inference/Receipt.ts"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { booksBetween, type DayBooks, type RequestRow, requestsBetween } from "../usage/RequestsSql.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, Refused } from "./Output.ts"
import { type ExportedAmounts, finished, type Manifest, namesOf, ReceiptsFile, type Totals } from "./ReceiptsFile.ts"

const DAY_MS = 86_400_000

/** Requests that arrived in the last moments of a day take their hold after it. No request waits this long for it. */
const SETTLING_MS = 3_600_000

/** Receipts that one statement returns. */
const PAGE_ROWS = 1_000

const lineOf = (row: RequestRow): ExportedAmounts => {
  const cost = providerCostIn(row.closed)
  return {
    ...receiptOf(row),
    account_id: row.account_id,
    provider_cost_usd: cost === null ? null : usdFromNano(cost),
    settled_nano_usd: String(row.settled),
    refunded_nano_usd: String(row.refunded)
  } as ExportedAmounts
}

/** Says how the file differs from the books; undefined when it does not. */
const differenceOf = ({ receipts, refunded, settled }: Totals, books: DayBooks): string | undefined => {
  if (BigInt(receipts) !== books.receipts) return `${receipts} receipts for ${books.receipts} requests`
  if (settled !== books.charged) return `${formatUsd(settled)} settled for transfers of ${formatUsd(books.charged)}`
  if (refunded !== books.refunded)
    return `${formatUsd(refunded)} refunded for ${formatUsd(books.refunded)} in the books`
  return undefined
}

const refuse = (message: string) => Effect.fail(new Refused({ message }))

const exported = Effect.fnUntraced(function* (day: string, directory: string) {
  const sql = yield* SqlClient.SqlClient
  const from = Date.parse(day)
  if ((yield* Clock.currentTimeMillis) < from + DAY_MS + SETTLING_MS)
    return yield* refuse(`\`--day\` must have ended over an hour ago (UTC); got ${day}`)
  const range = { from: firstRequestIdAt(from), until: firstRequestIdAt(from + DAY_MS) }
  const before = yield* storeErrors(booksBetween(sql, range))
  if (before.open > 0n) return yield* refuse(`All requests of ${day} must have ended; ${before.open} have not`)
  const file = yield* Effect.acquireRelease(
    Effect.promise(() => ReceiptsFile.open(directory, day)),
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

const receipts = Command.make(
  "receipts",
  { day: Flags.exportDay, to: Flags.exportTo },
  Effect.fn("export receipts")(function* ({ day, to }) {
    const names = namesOf(to, day)
    const before = yield* Effect.promise(() => finished(names))
    if (before === "changed")
      return yield* refuse(`${names.file} is not what ${names.manifest} says; remove both to export the day again`)
    const manifest = before ?? (yield* exported(day, to))
    yield* print({ json: manifest, text: textOf(manifest, to, before === undefined) })
  })
).pipe(
  Command.withDescription(
    "Write the receipts of a day that has ended as JSON Lines, with a manifest; again changes nothing"
  ),
  Command.withExamples([{ command: "npm run admin -- export receipts --day 2026-01-31 --to /exports" }]),
  Command.provide(database)
)

export const exportCommand = Command.make("export").pipe(
  Command.withDescription("Export receipts to files"),
  Command.withSubcommands([receipts])
)
