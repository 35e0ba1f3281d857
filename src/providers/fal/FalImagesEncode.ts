/** Encodes image requests for fal's models. <https://fal.ai/models> */
import { Result } from "effect"
import { ratioOf } from "../wire/ImageParts.ts"
import { dataUrlOf } from "../wire/HttpClip.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { ImagesWork, ImageFormat } from "../../domain/Work.ts"

/** How the models differ. */
interface FalModel {
  /** Aspect ratios (width to height), if the model supports only these. Absent: any size in pixels. */
  readonly ratios?: ReadonlyArray<string>
  readonly formats: ReadonlyArray<ImageFormat>
}

const flux: FalModel = { formats: ["jpeg", "png"] }
const kontext: FalModel = {
  ratios: ["21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"],
  formats: ["jpeg", "png"]
}
const imagen: FalModel = { ratios: ["1:1", "16:9", "9:16", "3:4", "4:3"], formats: ["png", "jpeg", "webp"] }

const modelOf = (upstreamId: string): FalModel => {
  if (upstreamId.includes("/kontext")) return kontext
  return upstreamId.startsWith("fal-ai/imagen") ? imagen : flux
}

const refused = (param: string, detail: string): Result.Result<never, ProviderFault> =>
  Result.fail({ _tag: "Refused", status: 400, detail, param })

const sizeOf = ({ ratios }: FalModel, { size }: ImagesWork): Result.Result<object, ProviderFault> => {
  if (size === undefined) return Result.succeed({})
  if (ratios === undefined) return Result.succeed({ image_size: size })
  const ratio = ratioOf(ratios, size)
  return ratio === undefined
    ? refused("size", `its images have width to height as ${ratios.join(", ")}`)
    : Result.succeed({ aspect_ratio: ratio })
}

/** The first parameter that no model supports. An automatic quality and an opaque background are what they do anyway. */
const lackOf = ({ background, images, quality, style }: ImagesWork): string | undefined => {
  if (quality !== undefined && quality !== "auto") return "quality"
  if (background === "transparent") return "background"
  if (style !== undefined) return "style"
  return images.length > 1 ? "image" : undefined
}

/** The input of a model for this many images. A parameter that the model does not support is rejected by name. */
export const encodeImages = (
  upstreamId: string,
  work: ImagesWork,
  count: number
): Result.Result<Readonly<Record<string, unknown>>, ProviderFault> => {
  const model = modelOf(upstreamId)
  const { format, images, prompt } = work
  const lack = lackOf(work)
  if (lack !== undefined) return refused(lack, `it does not offer ${lack}`)
  if (format !== undefined && !model.formats.includes(format)) {
    return refused("output_format", `its images come as ${model.formats.join(" or ")}`)
  }
  const [source] = images
  return Result.map(sizeOf(model, work), (size) => ({
    prompt,
    num_images: count,
    ...size,
    ...(format === undefined ? {} : { output_format: format }),
    ...(source === undefined ? {} : { image_url: dataUrlOf(source) })
  }))
}
