/** The receipts of a day as a file of JSON Lines, and its manifest. */
import { createHash } from "node:crypto"
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { makeMissing } from "../platform/database/DataDirectory.ts"

/** The sums of a file's lines. Amounts are in nano-USD. */
export interface Totals {
  readonly receipts: number
  readonly settled: bigint
  readonly refunded: bigint
}

/** The fields of a line that the sums include. */
export interface ExportedAmounts {
  readonly id: string
  readonly settled_nano_usd: string
  readonly refunded_nano_usd: string
}

/** The manifest beside the file. Amounts are in nano-USD, as text, because a number cannot hold them exactly. */
export interface Manifest {
  readonly day: string
  readonly file: string
  readonly receipts: number
  readonly bytes: number
  readonly sha256: string
  readonly settled_nano_usd: string
  readonly refunded_nano_usd: string
  readonly cost_nano_usd: string
  readonly exported_at: string
}

/** The names of the files of a day. The unfinished file gets its final name when it is complete. */
export const namesOf = (directory: string, day: string) => ({
  file: join(directory, `receipts-${day}.jsonl`),
  unfinished: join(directory, `receipts-${day}.jsonl.unfinished`),
  manifest: join(directory, `receipts-${day}.manifest.json`)
})

type Names = ReturnType<typeof namesOf>

/** Reads the lines of a file in order. Bytes after the last line break are no line. */
const readLines = async (path: string, onLine: (line: string) => void): Promise<void> => {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) onLine(line)
}

/** The length of the file's end in which the last line break is searched, in bytes: longer than any receipt. */
const TAIL_BYTES = 1_048_576

/** Where the last whole line of a file ends, in bytes. */
const endOfLines = (path: string): number => {
  const { size } = statSync(path)
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
  const input = openSync(path, "r")
  try {
    readSync(input, tail, 0, tail.length, size - tail.length)
  } finally {
    closeSync(input)
  }
  const at = tail.lastIndexOf(10)
  return at === -1 ? 0 : size - tail.length + at + 1
}

/** The size and the digest of a file. */
const digestOf = async (path: string) => {
  const hash = createHash("sha256")
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest("hex") }
}

/** The manifest of a finished export whose file is unchanged. Undefined when there is none; an error when the file has changed. */
export const finishedExport = async ({ file, manifest }: Names): Promise<Manifest | "changed" | undefined> => {
  if (!existsSync(manifest)) return undefined
  const stored = JSON.parse(readFileSync(manifest, "utf8")) as Manifest
  if (!existsSync(file)) return "changed"
  const { bytes, sha256 } = await digestOf(file)
  return bytes === stored.bytes && sha256 === stored.sha256 ? stored : "changed"
}

/** Writes the receipts of a day, from where an earlier run of it ended. */
export class ReceiptsFile {
  readonly #names: Names
  readonly #output: number
  #totals: Totals
  /** The id of the last receipt in the file; empty when there is none. */
  #lastId: string

  private constructor(names: Names, totals: Totals, lastId: string) {
    this.#names = names
    this.#output = openSync(names.unfinished, "a")
    this.#totals = totals
    this.#lastId = lastId
  }

  /** Opens the file of a day. What an earlier run left after its last whole line is cut off. */
  static async open(directory: string, day: string): Promise<ReceiptsFile> {
    const names = namesOf(directory, day)
    makeMissing(resolve(directory), 0o777)
    // A run ended between the file and its manifest.
    if (existsSync(names.file)) renameSync(names.file, names.unfinished)
    if (!existsSync(names.unfinished)) return new ReceiptsFile(names, { receipts: 0, settled: 0n, refunded: 0n }, "")
    truncateSync(names.unfinished, endOfLines(names.unfinished))
    let totals: Totals = { receipts: 0, settled: 0n, refunded: 0n }
    let lastId = ""
    await readLines(names.unfinished, (line) => {
      const one = JSON.parse(line) as ExportedAmounts
      totals = withAmounts(totals, one)
      lastId = one.id
    })
    return new ReceiptsFile(names, totals, lastId)
  }

  get totals(): Totals {
    return this.#totals
  }

  get lastId(): string {
    return this.#lastId
  }

  append(receipts: ReadonlyArray<ExportedAmounts>): void {
    writeSync(this.#output, receipts.map((one) => `${JSON.stringify(one)}\n`).join(""))
    for (const one of receipts) this.#totals = withAmounts(this.#totals, one)
    this.#lastId = receipts.at(-1)?.id ?? this.#lastId
  }

  close(): void {
    closeSync(this.#output)
  }

  /** Removes what was written, so that the next run begins anew. */
  discard(): void {
    rmSync(this.#names.unfinished, { force: true })
  }

  /** Gives the file its name and writes the manifest, each whole or not at all. */
  async finish(day: string): Promise<Manifest> {
    const { file, manifest, unfinished } = this.#names
    fsyncSync(this.#output)
    const { receipts, refunded, settled } = this.#totals
    const facts: Manifest = {
      day,
      file: `receipts-${day}.jsonl`,
      receipts,
      ...(await digestOf(unfinished)),
      settled_nano_usd: String(settled),
      refunded_nano_usd: String(refunded),
      cost_nano_usd: String(settled - refunded),
      exported_at: new Date().toISOString()
    }
    renameSync(unfinished, file)
    writeFileSync(`${manifest}.unfinished`, `${JSON.stringify(facts, undefined, 2)}\n`, { flush: true })
    renameSync(`${manifest}.unfinished`, manifest)
    return facts
  }
}

const withAmounts = (totals: Totals, one: ExportedAmounts): Totals => ({
  receipts: totals.receipts + 1,
  settled: totals.settled + BigInt(one.settled_nano_usd),
  refunded: totals.refunded + BigInt(one.refunded_nano_usd)
})
