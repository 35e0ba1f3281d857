import { Schema } from "effect"
import { Count, integer, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { BalanceWarning } from "../Routing.ts"

/** The most pixels of an image that is asked for: those of 3840×2160. */
export const MAX_PIXELS = 8_294_400

const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/

/** Width and height of a size such as `1536x1024`; undefined where it is none. */
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

/** Pixels across and down, such as `1536x1024`, each from 64 to 3840 and together at most 3840×2160; or `auto`. */
export const ImageSize = Schema.String.check(
  Schema.makeFilter<string>((size) => size === "auto" || isSize(size), {
    message: "auto, or width and height such as 1024x1024, each from 64 to 3840 and together at most 3840x2160 pixels",
    toJsonSchema: () => ({ pattern: "^(auto|[1-9][0-9]{1,3}x[1-9][0-9]{1,3})$" })
  })
)

/** What images can come as. */
export const ImageFormat = Schema.Literals(["png", "jpeg", "webp"])

/**
 * Images to be made, or one to be edited. Nothing but these fields is allowed; a null counts as absent. What a model cannot do of
 * them is refused, and the field named.
 */
export const ImageRequest = Schema.Struct({
  model: ModelString,
  prompt: textOf(1, 32_000),
  /** 1 unless told. Each image that is delivered is charged. */
  n: Schema.optionalKey(Schema.NullOr(integer(1, 10))),
  /**
   * The image to be edited: the https URL of a PNG, JPEG, GIF or WebP image of at most 20 MiB, or a data URL with base64. Of models
   * that edit images.
   */
  image: Schema.optionalKey(Schema.NullOr(Schema.String.check(...sized(1, 33_554_432, "characters")))),
  /** `auto` leaves it to the model, as does nothing. */
  size: Schema.optionalKey(Schema.NullOr(ImageSize)),
  quality: Schema.optionalKey(Schema.NullOr(Schema.Literals(["auto", "low", "medium", "high", "standard", "hd"]))),
  /** `url` unless told: an address at which the image stays for 30 days. */
  response_format: Schema.optionalKey(Schema.NullOr(Schema.Literals(["url", "b64_json"]))),
  output_format: Schema.optionalKey(Schema.NullOr(ImageFormat)),
  background: Schema.optionalKey(Schema.NullOr(Schema.Literals(["transparent", "opaque", "auto"]))),
  style: Schema.optionalKey(Schema.NullOr(Schema.Literals(["vivid", "natural"]))),
  user: Schema.optionalKey(Schema.NullOr(textOf(0, 256)))
}).annotate({ identifier: "ImageRequest" })
export type ImageRequest = typeof ImageRequest.Type

/** One image: its address, or its bytes as base64. */
export const Image = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  b64_json: Schema.optionalKey(Schema.String),
  /** What the model made of the prompt, where it says so. */
  revised_prompt: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Image" })

/** The images that were made: at least one, and at most as many as were asked for. */
export const ImageList = Schema.Struct({
  /** Unix seconds. */
  created: Count,
  data: Schema.Array(Image),
  model: ModelString,
  provider: Schema.String,
  cost_usd: Usd,
  request_id: Schema.String,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "ImageList" })
export type ImageList = typeof ImageList.Type
