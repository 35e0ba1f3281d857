/** Checks the images of a request by their form. `inference` checks which URLs are allowed. */
import type { ImagePart, Message } from "../domain/Conversation.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"

/** The largest inline image, in bytes before base64. */
export const IMAGE_MAX_BYTES = 20 * 1_048_576

/** Plain http is allowed only for this machine, if the settings allow that. */
const WEB_ADDRESS = /^(https:\/\/[^/\s]+|http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$))/i

/** The error for an image that is neither at a web URL nor a base64 data URL, or that exceeds 20 MiB inline. */
export const imageProblem = (field: string, url: string): Failure | undefined => {
  if (WEB_ADDRESS.test(url)) return undefined
  const data = /^data:image\/[a-z0-9.+-]+;base64,/i.exec(url)
  if (data === null) return invalid(field, "must be an https URL, or a data URL with a base64-encoded image")
  return (url.length - data[0].length) * 0.75 > IMAGE_MAX_BYTES
    ? failure({ _tag: "ImageTooLarge", param: field, limitBytes: IMAGE_MAX_BYTES })
    : undefined
}

/**
 * The detail level of an image. `original`, the unchanged image, becomes the highest level that every host accepts and that has a
 * limit.
 */
export const detailOf = (detail: ImagePart["detail"] | "original" | null | undefined): ImagePart["detail"] =>
  detail === "original" ? "high" : (detail ?? "auto")

/** The error for the first image with an invalid form. It names the field that the image records as its place. */
export const checkImages = (messages: ReadonlyArray<Message>): Failure | undefined => {
  for (const message of messages) {
    if (message.role !== "user" && message.role !== "tool") continue
    for (const part of message.content) {
      const problem = part.type === "image" ? imageProblem(part.field ?? "messages", part.url) : undefined
      if (problem !== undefined) return problem
    }
  }
  return undefined
}
