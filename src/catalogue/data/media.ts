import type { VideoFacts } from "../../domain/Model.ts"
import { at, type Entry, mediaModels } from "../Entry.ts"

const audio = mediaModels("audio")
const image = mediaModels("image")
const edit = mediaModels("image_edit")
const video = mediaModels("video")

const openai = { vendor: "openai", brand: "OpenAI" }
const google = { vendor: "google", brand: "Google" }
const flux = { vendor: "black-forest-labs", brand: "Black Forest Labs" }
const kling = { vendor: "kuaishou", brand: "Kling" }
const bytedance = { vendor: "bytedance", brand: "ByteDance" }
const xai = { vendor: "xai", brand: "xAI" }

/** fal bills some models by the megapixel, rounded up. */
const ONE_MEGAPIXEL = { maxPixels: 1_024 * 1_024 }

const imageParameters = ["n", "size", "response_format"]
const editParameters = ["n", "image", "response_format"]
const videoParameters = ["duration", "aspect_ratio", "image_url"]

const anySecond: VideoFacts = {
  durations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  aspectRatios: ["16:9", "9:16"],
  referenceImages: 0,
  referenceVideo: false,
  imageWithReferences: false
}

export const audioModels: ReadonlyArray<Entry> = [
  audio({
    ...openai,
    id: "tts-1",
    name: "TTS-1",
    released: "2023-11-06",
    parameters: ["voice", "response_format", "speed"],
    about: "Speech from text, tuned for latency.",
    at: [at("openai", "tts-1")]
  }),
  audio({
    ...openai,
    id: "tts-1-hd",
    name: "TTS-1 HD",
    released: "2023-11-06",
    parameters: ["voice", "response_format", "speed"],
    about: "Speech from text, tuned for quality.",
    at: [at("openai", "tts-1-hd")]
  })
]

export const imageModels: ReadonlyArray<Entry> = [
  image({
    ...openai,
    id: "gpt-image-1",
    name: "GPT Image 1",
    released: "2025-04-23",
    parameters: [...imageParameters, "image", "quality", "output_format", "background"],
    about: "Images from text with exact rendering of words.",
    note: "One price for every quality and size: that of a high-quality image of 1536×1024.",
    at: [at("openai", "gpt-image-1")]
  }),
  image({
    ...openai,
    id: "gpt-image-1-mini",
    name: "GPT Image 1 mini",
    released: "2025-10-06",
    parameters: [...imageParameters, "image", "quality", "output_format", "background"],
    about: "Cheaper variant of GPT Image 1.",
    note: "One price for every quality and size: that of a high-quality image of 1536×1024.",
    at: [at("openai", "gpt-image-1-mini")]
  }),
  image({
    ...google,
    id: "gemini-2.5-flash-image",
    name: "Gemini 2.5 Flash Image",
    released: "2025-10-02",
    parameters: imageParameters,
    about: "Images from text by a Gemini model.",
    at: [at("gemini", "gemini-2.5-flash-image"), at("vertex", "gemini-2.5-flash-image")]
  }),
  image({
    ...google,
    id: "imagen-4",
    name: "Imagen 4",
    released: "2025-05-20",
    status: "deprecated",
    parameters: imageParameters,
    about: "Google's diffusion model for photographs and typography.",
    at: [at("fal", "fal-ai/imagen4/preview")]
  }),
  image({
    ...flux,
    id: "flux-1.1-pro",
    name: "FLUX 1.1 Pro",
    released: "2024-10-02",
    parameters: imageParameters,
    about: "Fast images from text with high prompt fidelity.",
    note: "Priced as one image of a megapixel, beyond which none is made.",
    at: [at("fal", "fal-ai/flux-pro/v1.1", ONE_MEGAPIXEL)]
  }),
  image({
    ...flux,
    id: "flux-dev",
    name: "FLUX.1 dev",
    released: "2024-08-01",
    parameters: imageParameters,
    about: "Open-weights image model of twelve billion parameters.",
    note: "Priced as one image of a megapixel, beyond which none is made.",
    at: [at("fal", "fal-ai/flux/dev", ONE_MEGAPIXEL)]
  }),
  image({
    ...flux,
    id: "flux-schnell",
    name: "FLUX.1 schnell",
    released: "2024-08-01",
    parameters: imageParameters,
    about: "Open-weights image model that needs one to four steps.",
    note: "Priced as one image of a megapixel, beyond which none is made.",
    at: [at("fal", "fal-ai/flux/schnell", ONE_MEGAPIXEL)]
  })
]

export const imageEditModels: ReadonlyArray<Entry> = [
  edit({
    ...flux,
    id: "flux-kontext-pro",
    name: "FLUX.1 Kontext Pro",
    released: "2025-05-29",
    parameters: editParameters,
    about: "Edits an image as told in words and keeps the rest of it.",
    at: [at("fal", "fal-ai/flux-pro/kontext")]
  }),
  edit({
    ...flux,
    id: "flux-kontext-max",
    name: "FLUX.1 Kontext Max",
    released: "2025-05-29",
    parameters: editParameters,
    about: "Kontext variant that follows prompts and sets type more exactly.",
    at: [at("fal", "fal-ai/flux-pro/kontext/max")]
  })
]

export const videoModels: ReadonlyArray<Entry> = [
  video({
    ...bytedance,
    id: "seedance-2.0",
    name: "Seedance 2.0",
    released: "2026-04-09",
    can: ["image_to_video", "reference_media", "audio_generation"],
    parameters: [...videoParameters, "generate_audio", "reference_images", "reference_video"],
    about: "Video of 4 to 15 seconds from text, an image, up to 4 reference images and a reference video, with sound.",
    note: "Priced for 720p; sound costs nothing more.",
    video: { ...anySecond, referenceImages: 4, referenceVideo: true },
    at: [at("fal", "bytedance/seedance-2.0")]
  }),
  video({
    ...bytedance,
    id: "seedance-2.0-fast",
    name: "Seedance 2.0 Fast",
    released: "2026-04-09",
    can: ["image_to_video", "audio_generation"],
    parameters: [...videoParameters, "generate_audio"],
    about: "Faster and cheaper Seedance 2.0 for video of 4 to 15 seconds.",
    note: "Priced for 720p; sound costs nothing more.",
    video: anySecond,
    at: [at("fal", "bytedance/seedance-2.0/fast")]
  }),
  video({
    ...google,
    id: "veo-3",
    name: "Veo 3",
    released: "2025-05-20",
    can: ["image_to_video", "audio_generation"],
    parameters: [...videoParameters, "generate_audio"],
    about: "Video of 4, 6 or 8 seconds with dialogue and sound, from text or an image.",
    note: "Priced with sound.",
    video: { ...anySecond, durations: [4, 6, 8] },
    at: [at("fal", "fal-ai/veo3")]
  }),
  video({
    ...kling,
    id: "kling-3-pro",
    name: "Kling 3 Pro",
    released: "2026-02-05",
    can: ["image_to_video", "audio_generation"],
    parameters: [...videoParameters, "generate_audio"],
    about: "Video of 4 to 15 seconds from text or an image, with sound and several shots.",
    note: "Priced with sound.",
    video: anySecond,
    at: [at("fal", "fal-ai/kling-video/v3/pro")]
  }),
  video({
    ...kling,
    id: "kling-3-standard",
    name: "Kling 3 Standard",
    released: "2026-02-05",
    can: ["image_to_video", "audio_generation"],
    parameters: [...videoParameters, "generate_audio"],
    about: "Cheaper Kling 3 for video of 4 to 15 seconds.",
    note: "Priced with sound.",
    video: anySecond,
    at: [at("fal", "fal-ai/kling-video/v3/standard")]
  }),
  video({
    ...xai,
    id: "grok-imagine-video",
    name: "Grok Imagine Video",
    released: "2026-01-28",
    can: ["image_to_video", "audio_generation"],
    parameters: [...videoParameters, "generate_audio"],
    about: "Video of 4 to 15 seconds from text or an image, with sound.",
    note: "Priced for 720p; there is always sound.",
    video: anySecond,
    at: [at("xai", "grok-imagine-video")]
  })
]
