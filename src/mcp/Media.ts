/** The tools that make images, videos and speech. */
import { Effect, Schema } from "effect"
import { Api } from "../../schemas/Api.ts"
import { Count, integer, Usd } from "../../schemas/Bounds.ts"
import { ModelString } from "../../schemas/Ids.ts"
import { ImageRequest } from "../../schemas/inference/Images.ts"
import { SpeechRequest } from "../../schemas/inference/Speech.ts"
import { VideoJob, VideoRequest } from "../../schemas/inference/Videos.ts"
import { BalanceWarning } from "../../schemas/Routing.ts"
import { decoder } from "../dialects/Decode.ts"
import { decodeImages } from "../dialects/images/ImagesDecode.ts"
import { encodeImages } from "../dialects/images/ImagesEncode.ts"
import { decodeSpeech } from "../dialects/speech/SpeechDecode.ts"
import { speechType } from "../dialects/speech/SpeechEncode.ts"
import { decodeVideo } from "../dialects/videos/VideosDecode.ts"
import { encodeVideo } from "../dialects/videos/VideosEncode.ts"
import { imageTypeOf } from "../domain/ImageType.ts"
import { usdFromNano } from "../domain/Money.ts"
import { speechRequest } from "../http/handlers/Speech.ts"
import { ImageWork } from "../inference/ImageWork.ts"
import type { ReturnedImage } from "../domain/Work.ts"
import { Videos } from "../videos/Videos.ts"
import { Work } from "../inference/Work.ts"
import { Media } from "../platform/files/Media.ts"
import { AnswerMemory } from "../providers/pool/AnswerMemory.ts"
import { makePaidRequest, callCostOf, reportWhile } from "./Paying.ts"
import { type Content, costFields, type ToolOf } from "./Tool.ts"

/** The most images of one call: each is in memory, and in a model's context. */
const MAX_IMAGES = 4

/** Larger images are given only by their address, because clients refuse larger results. */
const MAX_INLINE_BYTES = 4 * 1_048_576

const image = ImageRequest.fields

const ImageInput = Schema.Struct({
  model: image.model.annotateKey({ description: "An image model from `list_models`." }),
  prompt: image.prompt.annotateKey({ description: "What the image should show." }),
  n: Schema.optionalKey(integer(1, MAX_IMAGES)).annotateKey({
    description: "How many images to make; each is charged."
  }),
  image: image.image.annotateKey({ description: "An https address or data URL of an image to edit." }),
  size: image.size.annotateKey({ description: "Width and height in pixels, such as `1024x1024`." }),
  quality: image.quality.annotateKey({ description: "Better images cost more, where the model has qualities." }),
  output_format: image.output_format.annotateKey({ description: "The format of the file." }),
  background: image.background.annotateKey({ description: "Whether the background is transparent." })
})

const ImageOutput = Schema.Struct({
  images: Schema.Array(
    Schema.Struct({ url: Schema.optionalKey(Schema.String), revised_prompt: Schema.optionalKey(Schema.String) })
  ),
  model: ModelString,
  provider: Schema.String,
  created: Count,
  ...costFields,
  balance_warning: Schema.optionalKey(BalanceWarning)
})

const waitingProgress = (seconds: number) => ({
  progress: seconds,
  message: seconds === 0 ? "Asking the provider" : `Waiting for the provider for ${seconds} s`
})

const decodeImageInput = decoder(Schema.Struct({ n: ImageInput.fields.n }), { strict: false })

const imageTool = Effect.gen(function* () {
  const { make } = yield* ImageWork
  const media = yield* Media
  const paidRequest = yield* makePaidRequest
  const inline = (bytes: Uint8Array, url: string | undefined): ReadonlyArray<Content> => {
    const mimeType = imageTypeOf(bytes)
    const link = url === undefined ? [] : [{ type: "text" as const, text: url }]
    if (mimeType === undefined || bytes.length > MAX_INLINE_BYTES) return link
    return [{ type: "image", data: bytes, mimeType }, ...link]
  }
  /** An image and its address, or only the address while the file cannot be read. */
  const contentOf = ({ base64, url }: ReturnedImage): Effect.Effect<ReadonlyArray<Content>> => {
    if (base64 !== undefined) return Effect.sync(() => inline(Buffer.from(base64, "base64"), url))
    const id = url?.split("/").at(-1) ?? ""
    return Effect.map(
      Effect.orElseSucceed(media.read(id), () => undefined),
      (stored) => inline(stored?.bytes ?? new Uint8Array(), url)
    )
  }
  return {
    name: "generate_image",
    title: "Generate an image",
    description:
      "Make images from a description, or edit an image, and get them to look at and as addresses to share. Costs money by image, charged up front and given back where an image is not made.",
    input: ImageInput,
    output: ImageOutput,
    kind: "paid",
    openWorld: true,
    like: Api.groups.images.endpoints.generations,
    run: (call) =>
      Effect.gen(function* () {
        yield* Effect.fromResult(decodeImageInput(call.body))
        const { image: source, model, work } = yield* Effect.fromResult(decodeImages(call.body))
        const request = yield* paidRequest(call, model)
        // Under zero_retention no image is stored at an address.
        const form = request.policy.dataPolicy === "zero_retention" ? "b64_json" : "url"
        const answer = yield* reportWhile(call, waitingProgress, make({ ...request, form, image: source, work }))
        const content = yield* Effect.forEach(answer.value, contentOf)
        const { data, ...list } = encodeImages(answer)
        const images = data.map(({ revised_prompt, url }) => ({
          ...(url === undefined ? {} : { url }),
          ...(revised_prompt === undefined ? {} : { revised_prompt })
        }))
        return { structured: { images, ...list }, content: content.flat(), cost: callCostOf(list, answer.replayed) }
      })
  } satisfies ToolOf
})

const video = VideoRequest.fields

const VideoInput = Schema.Struct({
  model: video.model.annotateKey({ description: "A video model from `list_models`." }),
  prompt: video.prompt.annotateKey({ description: "What the video should show." }),
  duration: video.duration.annotateKey({ description: "Seconds. A model takes some lengths only; see `get_model`." }),
  aspect_ratio: video.aspect_ratio.annotateKey({ description: "`16:9` is wide, `9:16` is tall." }),
  image_url: video.image_url.annotateKey({ description: "The https address of the first picture." }),
  generate_audio: video.generate_audio.annotateKey({ description: "Whether it has sound." }),
  reference_images: video.reference_images.annotateKey({
    description: "Addresses of pictures of what it should show."
  }),
  reference_video: video.reference_video.annotateKey({ description: "The address of a clip that it should be like." })
})

const jobText = ({ error, id, progress = 0, status, video_url }: VideoJob): string => {
  if (video_url !== undefined) return `The video is ready: ${video_url}`
  if (status === "failed") return `The video failed and was refunded: ${error?.message ?? ""}`
  return `The video is ${status} (${progress}%). Ask get_video for ${id} in some seconds.`
}

/** A job in words, and a link to its clip. */
const jobContent = (job: VideoJob): ReadonlyArray<Content> => [
  { type: "text", text: jobText(job) },
  ...(job.video_url === undefined
    ? []
    : [{ type: "resource_link" as const, uri: job.video_url, name: `${job.id}.mp4`, mimeType: "video/mp4" }])
]

const createVideo = Effect.gen(function* () {
  const videos = yield* Videos
  const paidRequest = yield* makePaidRequest
  return {
    name: "create_video",
    title: "Create a video",
    description:
      "Start making a video from a description. It takes up to some minutes: this returns a job at once, and `get_video` tells when the clip is ready. Costs money by second, charged up front and given back if the video fails.",
    input: VideoInput,
    output: VideoJob,
    kind: "paid",
    openWorld: true,
    like: Api.groups.videos.endpoints.createVideo,
    run: (call) =>
      Effect.gen(function* () {
        const { model, prompt, options } = yield* Effect.fromResult(decodeVideo(call.body))
        const submitted = yield* videos.submit({ ...(yield* paidRequest(call, model)), prompt, options })
        const structured = encodeVideo(submitted.video, submitted.balanceWarning)
        return { structured, content: jobContent(structured), cost: callCostOf(structured, submitted.replayed) }
      })
  } satisfies ToolOf
})

const GetInput = Schema.Struct({ id: VideoJob.fields.id.annotateKey({ description: "The `id` from `create_video`." }) })
const decodeGet = decoder(GetInput, { strict: true })

const getVideo = Effect.map(
  Videos,
  (videos) =>
    ({
      name: "get_video",
      title: "Get a video",
      description:
        "Get how far a video from `create_video` is, and the link to its clip once it is ready. Ask every 10 seconds or so. Free.",
      input: GetInput,
      output: VideoJob,
      kind: "read",
      openWorld: true,
      like: Api.groups.videos.endpoints.getVideo,
      run: ({ body, principal }) =>
        Effect.gen(function* () {
          const { id } = yield* Effect.fromResult(decodeGet(body))
          const structured = encodeVideo(yield* videos.status(principal.accountId, id))
          return { structured, content: jobContent(structured) }
        })
    }) satisfies ToolOf
)

const speech = SpeechRequest.fields

const SpeechInput = Schema.Struct({
  model: speech.model.annotateKey({ description: "A speech model from `list_models`, such as `tts-1`." }),
  input: speech.input.annotateKey({ description: "The text to speak." }),
  voice: speech.voice.annotateKey({ description: "The name of the voice." }),
  response_format: speech.response_format.annotateKey({ description: "The audio format, `mp3` unless given." }),
  speed: speech.speed.annotateKey({ description: "1 is the usual speed." })
})

const SpeechOutput = Schema.Struct({
  model: ModelString,
  provider: Schema.String,
  format: Schema.String,
  bytes: Count,
  characters: Count,
  cost_usd: Usd,
  request_id: Schema.String,
  balance_warning: Schema.optionalKey(BalanceWarning)
})

const speechTool = Effect.gen(function* () {
  const work = yield* Work
  const memory = yield* AnswerMemory
  const paidRequest = yield* makePaidRequest
  return {
    name: "speak",
    title: "Speak a text",
    description: "Turn a text of up to 4,096 characters into speech and get the audio. Costs money by character.",
    input: SpeechInput,
    output: SpeechOutput,
    kind: "paid",
    openWorld: true,
    like: Api.groups.speech.endpoints.speech,
    run: (call) =>
      Effect.gen(function* () {
        const decoded = yield* Effect.fromResult(decodeSpeech(call.body))
        const { characters, model, work: asked } = decoded
        const request = speechRequest(memory, yield* paidRequest(call, model), decoded, () => undefined)
        const answer = yield* reportWhile(call, waitingProgress, work.run(request))
        const { audio } = answer.value
        const warning = answer.balanceWarning
        const structured = {
          model,
          provider: answer.provider,
          format: asked.format,
          bytes: audio.length,
          characters,
          cost_usd: usdFromNano(answer.cost),
          request_id: answer.requestId,
          ...(warning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: warning } })
        }
        const content = [
          { type: "audio", data: audio, mimeType: speechType(asked.format) },
          { type: "text", text: JSON.stringify(structured) }
        ] as const
        return { structured, content, cost: callCostOf(structured, answer.replayed) }
      })
  } satisfies ToolOf
})

/** `generate_image`, `create_video`, `get_video` and `speak`. */
export const mediaTools = Effect.all([imageTool, createVideo, getVideo, speechTool])
