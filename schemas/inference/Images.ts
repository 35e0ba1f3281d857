import { Schema } from "effect"
import { Count, integer, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { BalanceWarning } from "../Routing.ts"

/** The largest size of a requested image, in pixels: 3840×2160. */
const MAX_PIXELS = 8_294_400

const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/

/** Width and height of a size such as `1536x1024`; undefined for any other text. */
export const sidesOf = (size: string): { readonly width: number; readonly height: number } | undefined => {
  const [, width = "", height = ""] = SIZE.exec(size) ?? []
  return width === "" ? undefined : { width: Number(width), height: Number(height) }
}

const isSize = (size: string): boolean => {
  const sides = sidesOf(size)
  if (sides === undefined) return false
  const { height, width } = sides
  return Math.min(width, height) >= 64 && Math.max(width, height) <= 3840 && width * height <= MAX_PIXELS
}

/** The size of a requested image. */
export const ImageSize = Schema.String.check(
  Schema.makeFilter<string>((size) => size === "auto" || isSize(size), {
    message:
      "must be auto, or width and height such as 1024x1024, each from 64 to 3840 and at most 3840x2160 pixels in total",
    toJsonSchema: () => ({ pattern: "^(auto|[1-9][0-9]{1,3}x[1-9][0-9]{1,3})$" })
  })
)

/** The file formats of images. */
export const ImageFormat = Schema.Literals(["png", "jpeg", "webp"])

/**
 * A request to make images or to edit one. Unknown fields are rejected; a null counts as absent. A parameter that the model does not
 * support is rejected by name.
 */
export const ImageRequest = Schema.Struct({
  /** The id of an image model. */
  model: ModelString,
  /** What the image should show, or how it should change. 1 to 32,000 characters. */
  prompt: textOf(1, 32_000),
  /** The number of images, 1 to 10. Each delivered image is charged. Default: 1. */
  n: Schema.optionalKey(Schema.NullOr(integer(1, 10))),
  /**
   * The image to edit: the https URL of a PNG, JPEG, GIF or WebP image of at most 20 MiB, or a base64 data URL. For models that edit
   * images.
   */
  image: Schema.optionalKey(Schema.NullOr(Schema.String.check(...sized(1, 33_554_432, "characters")))),
  /**
   * Width and height in pixels, such as `1536x1024`, each from 64 to 3840 and at most 3840×2160 pixels in total. Default: `auto`, which
   * leaves it to the model.
   */
  size: Schema.optionalKey(Schema.NullOr(ImageSize)),
  /** The quality, for models that offer a choice. Default: `auto`, which leaves it to the model. */
  quality: Schema.optionalKey(Schema.NullOr(Schema.Literals(["auto", "low", "medium", "high", "standard", "hd"]))),
  /** Default: `url`, a URL at which the image stays for 30 days. */
  response_format: Schema.optionalKey(Schema.NullOr(Schema.Literals(["url", "b64_json"]))),
  /** The file format of the image, for models that offer a choice. */
  output_format: Schema.optionalKey(Schema.NullOr(ImageFormat)),
  /** The background, for models that offer a choice. */
  background: Schema.optionalKey(Schema.NullOr(Schema.Literals(["transparent", "opaque", "auto"]))),
  /** The style, for models that offer a choice. */
  style: Schema.optionalKey(Schema.NullOr(Schema.Literals(["vivid", "natural"]))),
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  user: Schema.optionalKey(Schema.NullOr(textOf(0, 256)))
}).annotate({ identifier: "ImageRequest" })
export type ImageRequest = typeof ImageRequest.Type

/** One image. */
export const Image = Schema.Struct({
  /** The URL of the image, for 30 days. */
  url: Schema.optionalKey(Schema.String),
  /** The image in base64. */
  b64_json: Schema.optionalKey(Schema.String),
  /** The prompt as the model rewrote it, if it reports that. */
  revised_prompt: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Image" })

/** The images: at least one, and at most as many as requested. */
export const ImageList = Schema.Struct({
  /** Unix seconds. */
  created: Count,
  /** The images. */
  data: Schema.Array(Image),
  /** The model that served. */
  model: ModelString,
  /** The provider that served. */
  provider: Schema.String,
  /** The charge in USD, as on the receipt of `request_id`. */
  cost_usd: Usd,
  /** The id of the request. */
  request_id: Schema.String,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "ImageList" })
export type ImageList = typeof ImageList.Type
