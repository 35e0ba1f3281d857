/** Decodes inline text files of a prompt. */
import { Result } from "effect"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { textOfBase64 } from "./Base64.ts"

/** The largest file, in bytes before base64. */
export const FILE_MAX_BYTES = 20 * 1_048_576

/** The maximum length of the part that names a file's type, because errors repeat it. */
const HEAD_LENGTH = 256
const HEAD = /^data:([^;,]*)((?:;[^;,]*)*);base64$/i
const TEXT = /^(?:text\/[a-z0-9.+-]+|application\/json)$/i
const UTF8 = /^(?:;charset="?(?:utf-?8|us-ascii)"?)?$/i

/** A name on one line, whatever is in it. */
export const lineOf = (filename: string): string => filename.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim()

/** What a data URL with base64 says of its type; undefined for any other text. */
export const fileHead = (dataUrl: string): { readonly type: string; readonly parameters: string } | undefined => {
  const comma = dataUrl.indexOf(",")
  const head = comma > HEAD_LENGTH ? null : HEAD.exec(dataUrl.slice(0, Math.max(0, comma)))
  return head === null ? undefined : { type: head[1] ?? "", parameters: head[2] ?? "" }
}

/**
 * The text of a file of up to 20 MiB: a base64 data URL of type `text/…` or `application/json` in UTF-8. The file's name, if it has
 * one, is the first line. Files of other types are an unsupported parameter. `field` is the path of the file in the request.
 */
export const textOfFile = (
  dataUrl: string,
  filename: string | undefined,
  field: string
): Result.Result<string, Failure> => {
  const head = fileHead(dataUrl)
  if (head === undefined) return Result.fail(invalid(field, "must be a data URL with a base64-encoded file"))
  const { parameters, type } = head
  if (!TEXT.test(type) || !UTF8.test(parameters)) {
    const detail = `Files of type ${type}${parameters} are not supported; send PDF, UTF-8 text or JSON`
    return Result.fail(failure({ _tag: "UnsupportedParameter", param: field, detail }))
  }
  const encoded = dataUrl.slice(dataUrl.indexOf(",") + 1)
  if (Buffer.byteLength(encoded, "base64") > FILE_MAX_BYTES)
    return Result.fail(invalid(field, "must be a file of at most 20 MiB"))
  const text = textOfBase64(encoded)
  if (text === undefined) return Result.fail(invalid(field, "must be base64 of UTF-8 text"))
  const name = lineOf(filename ?? "")
  return Result.succeed(name === "" ? text : `${name}\n${text}`)
}
