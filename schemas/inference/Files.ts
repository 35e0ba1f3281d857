import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count } from "../Bounds.ts"
import { InsufficientCreditsError, NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"

/** `file_` and 44 hexadecimal characters, time-ordered. */
const FileId = Schema.String.check(
  Schema.isPattern(/^file_[0-9a-f]{44}$/, { message: "file_ and 44 hexadecimal characters" })
)

/** What a file is for: the input of a batch, or what became of one. */
export const FilePurpose = Schema.Literals(["batch", "batch_output"])

/** A file of the account, as OpenAI shows one. Times are Unix seconds. */
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

/** A page of files, newest first unless told; `last_id` is the `after` of the next one. */
export const FileList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(FileObject),
  first_id: Schema.NullOr(FileId),
  last_id: Schema.NullOr(FileId),
  has_more: Schema.Boolean
}).annotate({ identifier: "FileList" })

/** A file that is gone. */
export const FileDeleted = Schema.Struct({
  id: FileId,
  object: Schema.Literal("file"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "FileDeleted" })

/**
 * The form a file is sent in, of at most 32 MiB: `purpose` is `batch`, and `file` has a request on each line, at most 50,000. It is
 * kept for 30 days, or as long as `expires_after[seconds]` says, from an hour to 30 days. An account has at most 1,000 of them at a
 * time, and 512 MiB in all.
 */
export const NewFile = Schema.Struct({
  purpose: Schema.Literal("batch"),
  file: Schema.String.annotate({ format: "binary" }),
  "expires_after[anchor]": Schema.optionalKey(Schema.Literal("created_at")),
  "expires_after[seconds]": Schema.optionalKey(Schema.NumberFromString)
}).annotate({ identifier: "NewFile" })

/** Which files are listed. */
export const FilePage = {
  limit: Schema.optionalKey(Limit),
  after: Schema.optionalKey(FileId),
  purpose: Schema.optionalKey(FilePurpose),
  order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
}

// Any text: what is no id is no file, which is a 404 like any other that there is not.
const params = { file_id: Schema.String }
const free = { limit: "default", charge: "free" } as const

/** Files of batches: what goes in and what comes out. */
export class FilesGroup extends HttpApiGroup.make("files")
  .add(
    HttpApiEndpoint.post("createFile", "/files", {
      payload: NewFile.pipe(HttpApiSchema.asMultipart()),
      success: FileObject,
      error: InsufficientCreditsError
    }).annotateMerge(operation("files.create", "Upload the input of a batch", free)),
    HttpApiEndpoint.get("listFiles", "/files", { query: FilePage, success: FileList }).annotateMerge(
      operation("files.list", "List files of batches, newest first unless told", free)
    ),
    HttpApiEndpoint.get("getFile", "/files/:file_id", {
      params,
      success: FileObject,
      error: NotFoundError
    }).annotateMerge(operation("files.get", "Retrieve what is known of a file", free)),
    HttpApiEndpoint.get("fileContent", "/files/:file_id/content", {
      params,
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/jsonl" })),
      error: NotFoundError
    }).annotateMerge(operation("files.content", "Retrieve the content of a file", free)),
    HttpApiEndpoint.delete("deleteFile", "/files/:file_id", {
      params,
      success: FileDeleted,
      error: NotFoundError
    }).annotateMerge(operation("files.delete", "Delete a file", free))
  )
  .middleware(InferenceAccess) {}
