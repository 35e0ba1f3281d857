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

/** A file of the account in OpenAI's format. */
export const FileObject = Schema.Struct({
  id: FileId,
  object: Schema.Literal("file"),
  /** The size. */
  bytes: Count,
  /** Unix seconds. */
  created_at: Schema.Int,
  /** The name of the uploaded file. */
  filename: Schema.String,
  purpose: FilePurpose,
  status: Schema.Literal("processed"),
  /** When the file is deleted, in Unix seconds. */
  expires_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "FileObject" })
export type FileObject = typeof FileObject.Type

/** One page of files, newest first by default. `last_id` is the `after` of the next page. */
export const FileList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The files. */
  data: Schema.Array(FileObject),
  /** The id of the first file; null on an empty page. */
  first_id: Schema.NullOr(FileId),
  /** The id of the last file; null on an empty page. */
  last_id: Schema.NullOr(FileId),
  /** Whether more files follow. */
  has_more: Schema.Boolean
}).annotate({ identifier: "FileList" })

/** The confirmation that a file was deleted. */
export const FileDeleted = Schema.Struct({
  id: FileId,
  object: Schema.Literal("file"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "FileDeleted" })

/** The upload form, of at most 32 MiB. An account can have at most 1,000 input files, of 512 MiB in total. */
export const NewFile = Schema.Struct({
  purpose: Schema.Literal("batch"),
  /** The file: one request per line as JSON, at most 50,000 lines. */
  file: Schema.String.annotate({ format: "binary" }),
  /** The moment from which `expires_after[seconds]` counts. */
  "expires_after[anchor]": Schema.optionalKey(Schema.Literal("created_at")),
  /** How long the file is kept, in seconds, from an hour to 30 days. Default: 30 days. */
  "expires_after[seconds]": Schema.optionalKey(Schema.NumberFromString)
}).annotate({ identifier: "NewFile" })

/** The files to list. */
export const FileQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `last_id` of the previous page. */
  after: Schema.optionalKey(FileId),
  purpose: Schema.optionalKey(FilePurpose),
  /** `asc` sorts by time, oldest first. Default: `desc`. */
  order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
}

// Any text is allowed: an invalid id is simply an unknown file, which is a 404.
const params = {
  /** The id of a file. */
  file_id: Schema.String
}
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
  HttpApiEndpoint.get("listFiles", "/files", { query: FileQuery, success: FileList })
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
