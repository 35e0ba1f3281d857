/** Text that comes as base64. */

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The text of base64 in whole groups of four characters; undefined where it is none, or not strict UTF-8. Takes linear time. */
export const textOfBase64 = (encoded: string): string | undefined => {
  if (encoded.length % 4 !== 0 || !BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64"))
  } catch {
    return undefined
  }
}
