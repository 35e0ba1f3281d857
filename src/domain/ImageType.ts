/** The kinds of images that models take, recognized by their first bytes. */
import type { Model } from "./Model.ts"

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp"

/** How many bytes it takes to recognize an image. */
export const IMAGE_HEAD_BYTES = 12

/** The type of an image by its first bytes; undefined for a type that models do not take. */
export const imageTypeOf = (bytes: Uint8Array): ImageType | undefined => {
  const head = Buffer.from(bytes.subarray(0, IMAGE_HEAD_BYTES)).toString("latin1")
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif"
  return head.startsWith("RIFF") && head.startsWith("WEBP", 8) ? "image/webp" : undefined
}

/** The content of a data URL with base64: the bytes, still encoded, and their type by the first bytes or else by the URL. */
export const inlineImage = (url: string): { readonly type: string; readonly data: string } => {
  const comma = url.indexOf(",")
  const [mediaType = ""] = url.slice("data:".length, comma).toLowerCase().split(";")
  const data = url.slice(comma + 1)
  // Callers often name another type than they send, which some hosts refuse.
  const type = imageTypeOf(Buffer.from(data.slice(0, (IMAGE_HEAD_BYTES / 3) * 4), "base64"))
  return { type: type ?? (mediaType === "image/jpg" ? "image/jpeg" : mediaType), data }
}

/** Whether a model takes GIF images. Gemini's and xAI's models refuse them, and each of their hosts hands images on as they are. */
export const takesGif = ({ id, vendor }: Pick<Model, "id" | "vendor">): boolean =>
  vendor !== "xai" && !id.includes("gemini-")

/** Whether a model edits GIF images, or makes videos of them. OpenAI's models refuse them too, and fal's hosts accept them. */
export const takesGifSource = (model: Pick<Model, "id" | "vendor">): boolean =>
  takesGif(model) && model.vendor !== "openai"

/** The problem of a GIF image for a model that takes none. */
export const gifProblem = (model: string): string => `must be a PNG, JPEG or WebP image for ${model}; got a GIF image`
