import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import type { FileObject } from "../../../schemas/inference/Files.ts"
import { DEFAULT_LIMIT } from "../../../schemas/Page.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import { type Failure, failure, invalid, storeFailure } from "../../domain/Failure.ts"
import { REQUIRED, UNKNOWN } from "../../domain/SchemaProblems.ts"
import { linesOf, MAX_LINES } from "../../batches/BatchInput.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { Media, type NewFile, type StoredFile } from "../../platform/files/Media.ts"
import { PACE, streamOf } from "./Files.ts"
import { requireFunds } from "./Funds.ts"
import { makeOwnerLine } from "./OwnerLine.ts"
import { type Upload, withUpload } from "../edge/Upload.ts"
import { endSlow } from "../edge/StalledClients.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** How long the input of a batch is kept, in seconds: the maximum, which is also the default, and the minimum. */
const MAX_SECONDS = 30 * 86_400
const MIN_SECONDS = 3_600

const MAX_NAME = 255

/** The quota of an account's input files: sixteen of the largest size, or a thousand small ones. */
const QUOTA = { files: 1_000, bytes: 512 * 1_048_576 }

const full = invalid(
  "file",
  `must fit beside the other input files of the account, at most ${QUOTA.files} files and ${QUOTA.bytes} bytes; delete some, or let them expire sooner`
)

/** The refusal for accounts with `zero_retention`, because inputs and outputs of background batches are files. */
export const zeroRetentionRefusal = failure({
  _tag: "UnsupportedParameter",
  param: "data_policy",
  detail: "Batch files are stored, which zero_retention forbids; POST /batch stores nothing"
})

const purposes = { batch: "batch_input", batch_output: "batch_output" } as const

/** A file as the API shows it. */
export const fileObjectOf = (file: StoredFile): FileObject => ({
  id: file.id,
  object: "file",
  bytes: file.bytes,
  created_at: secondsOf(file.createdAt),
  filename: file.name ?? file.id,
  purpose: file.purpose === "batch_output" ? "batch_output" : "batch",
  status: "processed",
  expires_at: file.expiresAt === undefined ? null : secondsOf(file.expiresAt)
})

/** Images and videos have URLs of their own and are not listed here. */
const isOfBatch = ({ purpose }: StoredFile): boolean => purpose === "batch_input" || purpose === "batch_output"

const known = new Set(["purpose", "expires_after[anchor]", "expires_after[seconds]"])

/** How long an upload is kept, in seconds, or its validation error. */
const checked = ({ fields, file }: Upload): Effect.Effect<number, Failure> => {
  const unknown = [...fields.keys()].find((name) => !known.has(name))
  if (unknown !== undefined) return Effect.fail(invalid(unknown, UNKNOWN))
  if (fields.get("purpose") !== "batch") return Effect.fail(invalid("purpose", "must be batch"))
  if (file === undefined) return Effect.fail(invalid("file", REQUIRED))
  if ((fields.get("expires_after[anchor]") ?? "created_at") !== "created_at") {
    return Effect.fail(invalid("expires_after[anchor]", "must be created_at"))
  }
  const seconds = Number(fields.get("expires_after[seconds]") ?? MAX_SECONDS)
  if (!Number.isInteger(seconds) || seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
    return Effect.fail(invalid("expires_after[seconds]", `must be an integer from ${MIN_SECONDS} to ${MAX_SECONDS}`))
  }
  return Effect.flatMap(linesOf(file.bytes), (lines) => {
    if (lines === undefined) return Effect.fail(invalid("file", "must be UTF-8"))
    if (lines.count === 0) return Effect.fail(invalid("file", "must contain one request per line; got no lines"))
    return lines.count > MAX_LINES
      ? Effect.fail(invalid("file", `must have at most ${MAX_LINES} lines`))
      : Effect.succeed(seconds)
  })
}

/** Replaces characters of a file name that a header or a listing cannot contain. */
const nameOf = (name: string): string =>
  name
    .replace(/[^\p{L}\p{M}\p{N}\p{S} !#-.:;=?@[\]^-~]/gu, "_")
    .slice(0, MAX_NAME)
    .toWellFormed()

const files = Effect.gen(function* () {
  const media = yield* Media
  const ledger = yield* Ledger
  const withLine = yield* makeOwnerLine
  const find = (id: string) =>
    Effect.gen(function* () {
      const { accountId } = yield* Caller
      const file = yield* Effect.mapError(media.find(accountId, id), storeFailure)
      if (file !== undefined && isOfBatch(file)) return file
      return yield* Effect.fail(failure({ _tag: "NotFound", what: "file", id }))
    })

  const store = (accountId: string, upload: Upload) =>
    Effect.gen(function* () {
      const seconds = yield* checked(upload)
      const { bytes, name } = upload.file!
      const file: NewFile = {
        bytes,
        contentType: "application/jsonl",
        accountId,
        purpose: "batch_input",
        name: nameOf(name),
        expiresAt: new Date(Date.now() + seconds * 1_000)
      }
      const stored = yield* Effect.mapError(media.storeWithin(file, QUOTA), storeFailure)
      return stored === undefined ? yield* Effect.fail(full) : HttpServerResponse.jsonUnsafe(fileObjectOf(stored))
    })

  // Checks the balance before the file is received, so that an account without money uses no storage.
  const create = (request: ApiRequest) =>
    Effect.gen(function* () {
      yield* requireFunds(ledger)
      const principal = yield* Caller
      const { accountId } = principal
      if (basePolicy(principal).dataPolicy === "zero_retention") return yield* zeroRetentionRefusal
      return yield* withUpload(request, (upload) => store(accountId, upload))
    })

  const list = (query: {
    readonly limit?: number
    readonly after?: string
    readonly purpose?: keyof typeof purposes
    readonly order?: "asc" | "desc"
  }) =>
    Effect.gen(function* () {
      const { accountId } = yield* Caller
      const { after, limit = DEFAULT_LIMIT, order, purpose } = query
      const wanted = purpose === undefined ? Object.values(purposes) : [purposes[purpose]]
      const page = yield* Effect.mapError(
        media.list(accountId, { purposes: wanted, limit, order, cursor: after }),
        storeFailure
      )
      return HttpServerResponse.jsonUnsafe({
        object: "list",
        data: page.files.map(fileObjectOf),
        first_id: page.files[0]?.id ?? null,
        last_id: page.files.at(-1)?.id ?? null,
        has_more: page.next !== null
      })
    })

  const content = (id: string, response: ServerResponse) =>
    Effect.gen(function* () {
      const file = yield* find(id)
      const opened = yield* Effect.mapError(media.open(file), storeFailure)
      if (opened === undefined) return yield* Effect.fail(failure({ _tag: "NotFound", what: "file", id }))
      yield* endSlow(response, PACE)
      return HttpServerResponse.stream(streamOf(opened), {
        contentType: file.contentType,
        contentLength: file.bytes,
        headers: { "cache-control": "private, no-store", "x-content-type-options": "nosniff" }
      })
    })

  const remove = (id: string) => {
    const work = Effect.gen(function* () {
      const { accountId } = yield* Caller
      const found = yield* find(id)
      yield* Effect.mapError(media.remove(accountId, found.id), storeFailure)
      return HttpServerResponse.jsonUnsafe({ id, object: "file", deleted: true })
    })
    return withLine("file.deleted", { type: "file", id }, work)
  }

  return { find, create, list, content, remove }
})

/** `/files`: inputs and outputs of background batches. */
export const filesHandlers = Effect.map(files, ({ content, create, find, list, remove }) =>
  operations("files", {
    createFile: ({ request }) => create(request),
    listFiles: ({ query }) => list(query),
    getFile: ({ params }) =>
      Effect.map(find(params.file_id), (file) => HttpServerResponse.jsonUnsafe(fileObjectOf(file))),
    fileContent: ({ params, request }) => content(params.file_id, request.response),
    deleteFile: ({ params }) => remove(params.file_id)
  })
)
