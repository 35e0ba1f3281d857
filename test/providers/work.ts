import type { Candidate } from "../../src/domain/Plan.ts"
import type { Price } from "../../src/domain/Pricing.ts"
import type { ImagesWork, VideoWork, SearchWork } from "../../src/domain/Work.ts"
import type { WorkCall } from "../../src/providers/Provider.ts"
import { candidate, clocks } from "./calls.ts"

/** A call for work other than chat. */
export const workCall = (more: Partial<WorkCall> = {}, upstreamId = "up-1"): WorkCall => ({
  requestId: "req_0123456789abcdef",
  candidate: candidate("up", { upstreamId }) as Candidate<Price>,
  clocks,
  steering: undefined,
  ...more
})

/** A search for tea. */
export const searchWork = (more: Partial<SearchWork> = {}): SearchWork => ({
  queries: ["tea"],
  maxResults: 10,
  maxTokensPerPage: undefined,
  country: undefined,
  languages: [],
  domains: [],
  withoutDomains: [],
  recency: undefined,
  publishedAfter: undefined,
  publishedBefore: undefined,
  updatedAfter: undefined,
  updatedBefore: undefined,
  mode: "web",
  contextSize: "medium",
  ...more
})

/** An image of a kite. */
export const drawWork = (more: Partial<ImagesWork> = {}): ImagesWork => ({
  prompt: "a red kite",
  n: 1,
  images: [],
  size: undefined,
  quality: undefined,
  format: undefined,
  background: undefined,
  style: undefined,
  user: undefined,
  ...more
})

/** A video of a kite, from words alone. */
export const videoWork = (more: Partial<VideoWork> = {}): VideoWork => ({
  prompt: "a red kite",
  duration: 5,
  aspectRatio: "16:9",
  image: undefined,
  referenceImages: [],
  referenceVideo: undefined,
  audio: true,
  seed: undefined,
  ...more
})
