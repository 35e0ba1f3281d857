/** What of an image in a request can be judged by its form. Which addresses are allowed is known to `inference`. */
import type { ImagePart, Message } from "../domain/Conversation.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"

/** An image sent inline may have so many bytes before its encoding. */
export const IMAGE_MAX_BYTES = 20 * 1_048_576

/** Over http only from this machine itself, where its settings allow that. */
const WEB_ADDRESS = /^(https:\/\/[^/\s]+|http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$))/i

/** What is wrong with an image by its form: it is neither at a web address nor a data URL with base64, or one of more than 20 MiB. */
export const imageProblem = (field: string, url: string): Failure | undefined => {
  if (WEB_ADDRESS.test(url)) return undefined
  const data = /^data:image\/[a-z0-9.+-]+;base64,/i.exec(url)
  if (data === null) return invalid(field, "an https URL, or a data URL with a base64-encoded image")
  return (url.length - data[0].length) * 0.75 > IMAGE_MAX_BYTES
    ? failure({ _tag: "ImageTooLarge", param: field, limitBytes: IMAGE_MAX_BYTES })
    : undefined
}

/**
 * The detail in which a model is to see an image. `original`, the image as it is, becomes the most that every host takes and that
 * has a bound.
 */
export const detailOf = (detail: ImagePart["detail"] | "original" | null | undefined): ImagePart["detail"] =>
  detail === "original" ? "high" : (detail ?? "auto")

/** The first image with something wrong by its form. The error names the field that the image says it stands in. */
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
