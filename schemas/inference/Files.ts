import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccountAccess, InferenceAccess } from "../Access.ts"
import { Count } from "../Bounds.ts"
import { InsufficientCreditsError, NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"

/** `file_` and 44 hexadecimal characters that sort by time. */
const FileId = Schema.String.check(
  Schema.isPattern(/^file_[0-9a-f]{44}$/, { message: "must be file_ and 44 hexadecimal characters" })
)

/** The purpose of a file: the input of a batch, or its output. */
export const FilePurpose = Schema.Literals(["batch", "batch_output"])

/** A file of the account in OpenAI's format. Times are Unix seconds. */
export const FileObject = Schema.Struct({
  id: FileId,
  object: Schema.Literal("file"),
  bytes: Count,
  created_at: Schema.Int,
  filename: Schema.String,
  purpose: FilePurpose,
  status: Schema.Literal("processed"),
  expires_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "FileObject" })
export type FileObject = typeof FileObject.Type

/** One page of files, newest first by default. `last_id` is the `after` of the next page. */
export const FileList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(FileObject),
  first_id: Schema.NullOr(FileId),
  last_id: Schema.NullOr(FileId),
  has_more: Schema.Boolean
}).annotate({ identifier: "FileList" })

/** The confirmation that a file was deleted. */
export const FileDeleted = Schema.Struct({
  id: FileId,
  object: Schema.Literal("file"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "FileDeleted" })

/**
 * The upload form, of at most 32 MiB. `purpose` is `batch`, and `file` contains one request per line, at most 50,000. The file is kept
 * for 30 days, or as long as `expires_after[seconds]` says, from an hour to 30 days. An account can have at most 1,000 input files, of
 * 512 MiB in total.
 */
export const NewFile = Schema.Struct({
  purpose: Schema.Literal("batch"),
  file: Schema.String.annotate({ format: "binary" }),
  "expires_after[anchor]": Schema.optionalKey(Schema.Literal("created_at")),
  "expires_after[seconds]": Schema.optionalKey(Schema.NumberFromString)
}).annotate({ identifier: "NewFile" })

/** The files to list. */
export const FilePage = {
  limit: Schema.optionalKey(Limit),
  after: Schema.optionalKey(FileId),
  purpose: Schema.optionalKey(FilePurpose),
  order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
}

// Any text is allowed: an invalid id is simply an unknown file, which is a 404.
const params = { file_id: Schema.String }
const free = { limit: "default", charge: "free" } as const

/** Input and output files of batches. */
export class FilesGroup extends HttpApiGroup.make("files").add(
  HttpApiEndpoint.post("createFile", "/files", {
    payload: NewFile.pipe(HttpApiSchema.asMultipart()),
    success: FileObject,
    error: InsufficientCreditsError
  })
    .annotateMerge(operation("files.create", "Upload the input of a batch", free))
    .middleware(InferenceAccess),
  HttpApiEndpoint.get("listFiles", "/files", { query: FilePage, success: FileList })
    .annotateMerge(operation("files.list", "List batch files, newest first by default", free))
    .middleware(AccountAccess),
  HttpApiEndpoint.get("getFile", "/files/:file_id", {
    params,
    success: FileObject,
    error: NotFoundError
  })
    .annotateMerge(operation("files.get", "Retrieve a file's metadata", free))
    .middleware(AccountAccess),
  HttpApiEndpoint.get("fileContent", "/files/:file_id/content", {
    params,
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/jsonl" })).annotate({
      description: "The file: one JSON object per line."
    }),
    error: NotFoundError
  })
    .annotateMerge(operation("files.content", "Retrieve the content of a file", free))
    .middleware(AccountAccess),
  HttpApiEndpoint.delete("deleteFile", "/files/:file_id", {
    params,
    success: FileDeleted,
    error: NotFoundError
  })
    .annotateMerge(operation("files.delete", "Delete a file", free))
    .middleware(AccountAccess)
) {}
