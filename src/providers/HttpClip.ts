/** How adapters read the clip that a provider has put somewhere. */
import { Effect } from "effect"
import { PublicFetch, type PublicFetchReason } from "../platform/PublicFetch.ts"
import type { HttpWork } from "./HttpWork.ts"
import type { Provider, ProviderFault } from "./Provider.ts"

/** Fifteen seconds of 4K video have a third of it. */
const MAX_CLIP_BYTES = 128 * 1024 * 1024

/** What a file is by how it begins; undefined where it is no video that browsers play. */
const videoTypeOf = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("ftyp", 4)) return head.startsWith("qt  ", 8) ? "video/quicktime" : "video/mp4"
  return head.startsWith("\x1a\x45\xdf\xa3") ? "video/webm" : undefined
}

const faultOf = (reason: PublicFetchReason): ProviderFault => {
  switch (reason._tag) {
    case "Forbidden":
      return { _tag: "Malformed", detail: `the address of a clip ${reason.why}` }
    case "Unreachable":
      return { _tag: "Unreachable", detail: reason.detail }
    case "TimedOut":
      return { _tag: "TimedOut", clock: "total" }
    case "TooLarge":
      return { _tag: "Malformed", detail: `a clip longer than ${reason.limitBytes} bytes` }
    case "Status":
      return { _tag: "ServerError", status: reason.status, detail: `the clip is not given: status ${reason.status}` }
    case "Busy":
      return { _tag: "Unreachable", detail: "too many files are read at once" }
  }
}

/** Reads clips from where anybody may read them. The address is the provider's word, so it is no more trusted than a caller's. */
export const makeHttpClip = ({
  error
}: Pick<HttpWork, "error">): Effect.Effect<NonNullable<Provider["filmClip"]>, never, PublicFetch> =>
  Effect.map(
    PublicFetch,
    ({ fetch }) =>
      ({ clocks }, url) =>
        fetch({
          method: "GET",
          url,
          headers: { accept: "video/*", "user-agent": "tollgate" },
          totalMs: clocks.totalMs,
          maxBytes: MAX_CLIP_BYTES
        }).pipe(
          Effect.mapError(({ reason }) => error(faultOf(reason))),
          Effect.flatMap(({ body }) => {
            const contentType = videoTypeOf(body)
            return contentType === undefined
              ? Effect.fail(error({ _tag: "Malformed", detail: "the file is no video" }))
              : Effect.succeed({ bytes: body, contentType })
          })
        )
  )

/** A file in a data URL (RFC 2397). */
export const dataUrlOf = ({
  bytes,
  contentType
}: {
  readonly bytes: Uint8Array
  readonly contentType: string
}): string =>
  `data:${contentType};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`
