/** PDF files that come inline in a prompt. */
import { Result } from "effect"
import { type Message, type PdfPart, pdfsIn } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { PDF_MAX_PAGES, type PdfProblem, type PdfAllowance, sizeOfPdf } from "../domain/PdfPages.ts"
import { bytesOfBase64 } from "./Base64.ts"
import { FILE_MAX_BYTES, fileHead, lineOf } from "./TextFiles.ts"

/** The media type of PDF files. */
export const PDF_TYPE = "application/pdf"

const problems: Readonly<Record<PdfProblem, string>> = {
  not_pdf: "must be a PDF file; got a file that does not begin with %PDF-",
  encrypted: "must be a PDF file without encryption; got an encrypted file",
  too_many_pages: `must be a PDF file of at most ${PDF_MAX_PAGES} pages; got more`,
  unreadable: "must be a PDF file whose pages can be counted; got a damaged file, or one of an unusual form"
}

/** What is said of a file beside its bytes. */
export interface AboutPdf {
  /** Where the file stands in the request. */
  readonly field: string
  readonly name?: string | null | undefined
  readonly context?: string | null | undefined
  /** What all files of the request may take together. */
  readonly allowance: PdfAllowance
}

/** The part of a PDF file of up to 20 MiB and 100 pages. Anything else is a wrong field. */
export const pdfOfBase64 = (
  encoded: string,
  { context, field, name, allowance }: AboutPdf
): Result.Result<PdfPart, Failure> => {
  if (Buffer.byteLength(encoded, "base64") > FILE_MAX_BYTES)
    return Result.fail(invalid(field, "must be a file of at most 20 MiB"))
  const bytes = bytesOfBase64(encoded)
  if (bytes === undefined) return Result.fail(invalid(field, "must be base64 of a PDF file"))
  const size = sizeOfPdf(bytes, allowance)
  if (typeof size === "string") return Result.fail(invalid(field, problems[size]))
  const line = lineOf(name ?? "")
  return Result.succeed({
    type: "pdf",
    data: encoded,
    ...(line === "" ? {} : { name: line }),
    ...(context == null || context === "" ? {} : { context }),
    ...size,
    field
  })
}

/** Whether a data URL says that it is a PDF file. */
export const isPdf = (dataUrl: string): boolean => fileHead(dataUrl)?.type.toLowerCase() === PDF_TYPE

/** The part of a PDF file in a data URL. */
export const pdfOfUrl = (dataUrl: string, about: AboutPdf): Result.Result<PdfPart, Failure> =>
  pdfOfBase64(dataUrl.slice(dataUrl.indexOf(",") + 1), about)

/** The first file with which a request has more pages than it may. */
export const checkPages = (messages: ReadonlyArray<Message>): Failure | undefined => {
  let pages = 0
  for (const pdf of pdfsIn({ messages })) {
    pages += pdf.pages
    if (pages > PDF_MAX_PAGES) {
      return invalid(
        pdf.field,
        `must have at most ${PDF_MAX_PAGES} pages, together with the other PDF files of the request; got ${pages}`
      )
    }
  }
  return undefined
}
