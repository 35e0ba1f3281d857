/** Multipart forms with files (RFC 7578). */
import { randomUUID } from "node:crypto"

/** A file in a form. The gateway chooses its name and file name, so they need no escaping. */
export interface FormFile {
  readonly name: string
  readonly filename: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Encodes a form as a request body, and returns its content type. */
export const formOf = (
  fields: Readonly<Record<string, string | number>>,
  files: ReadonlyArray<FormFile>
): { readonly body: Uint8Array; readonly contentType: string } => {
  // Random, so that no content can contain it.
  const boundary = `tollgate-${randomUUID()}`
  const head = (disposition: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`
  const parts: Array<Uint8Array> = []
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from(`${head(`name="${name}"`)}\r\n${value}\r\n`))
  }
  for (const { bytes, contentType, filename, name } of files) {
    const disposition = head(`name="${name}"; filename="${filename}"`)
    parts.push(Buffer.from(`${disposition}content-type: ${contentType}\r\n\r\n`), bytes, Buffer.from("\r\n"))
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`))
  return { body: Buffer.concat(parts), contentType: `multipart/form-data; boundary=${boundary}` }
}
