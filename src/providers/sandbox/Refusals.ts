/** The requests that a double refuses because the adapter of its provider would: what works in the sandbox also works with a key. */
import { Result } from "effect"
import type { ImagesWork, SearchWork, VideoWork } from "../../domain/Work.ts"
import { encodeImages as encodeFalImages } from "../fal/FalImagesEncode.ts"
import { encodeVideo as encodeFalVideo } from "../fal/FalVideoEncode.ts"
import { encodeImages as encodeGeminiImages } from "../gemini/Images.ts"
import { encodeImages as encodeOpenAiImages } from "../openai/Images.ts"
import type { WorkCall } from "../Provider.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { refusalOf as refusalOfTavily } from "../tavily/Search.ts"
import { refusalOf as refusalOfXai } from "../xai/XaiVideo.ts"

const faultOf = (encoded: Result.Result<unknown, ProviderFault>): ProviderFault | undefined =>
  Result.isFailure(encoded) ? encoded.failure : undefined

/** Returns why the adapter of a provider would refuse to make these images; undefined when it would not. */
export const imagesRefusalOf = (id: string, call: WorkCall, work: ImagesWork): ProviderFault | undefined => {
  const { upstreamId } = call.candidate.offer
  switch (id) {
    case "fal":
      return faultOf(encodeFalImages(upstreamId, work, work.n))
    case "gemini":
      return faultOf(encodeGeminiImages(work))
    case "openai":
      return faultOf(encodeOpenAiImages(upstreamId, work, { flavour: "openai" }))
    default:
      return undefined
  }
}

/** Returns why the adapter of a provider would refuse this search; undefined when it would not. */
export const searchRefusalOf = (id: string, work: SearchWork): ProviderFault | undefined =>
  id === "tavily" ? refusalOfTavily(work) : undefined

/** Returns why the adapter of a provider would refuse to make this video; undefined when it would not. */
export const videoRefusalOf = (id: string, call: WorkCall, work: VideoWork): ProviderFault | undefined => {
  if (id === "fal") return faultOf(encodeFalVideo(call.candidate.offer.upstreamId, work))
  return id === "xai" ? refusalOfXai(work) : undefined
}
