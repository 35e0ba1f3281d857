/** Text and bytes that come as base64. */

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes of base64 in whole groups of four characters; undefined where it is none. Takes linear time. */
export const bytesOfBase64 = (encoded: string): Buffer | undefined =>
  encoded.length % 4 === 0 && BASE64.test(encoded) ? Buffer.from(encoded, "base64") : undefined

/**
 * The text of base64 in complete groups of four characters. Undefined when it is not base64, or not strict UTF-8. Takes linear time.
 */
export const textOfBase64 = (encoded: string): string | undefined => {
  const bytes = bytesOfBase64(encoded)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
