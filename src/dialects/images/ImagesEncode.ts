import type { ImageList } from "../../../schemas/inference/Images.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import type { ReturnedImage } from "../../domain/Work.ts"

/** The images of a request, and its facts. */
export interface ImagesAnswer {
  readonly value: ReadonlyArray<ReturnedImage>
  readonly requestId: string
  /** Unix time in seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  readonly balanceWarning: string | undefined
}

/** The body of the response. */
export const encodeImages = (answer: ImagesAnswer): ImageList => ({
  created: answer.created,
  data: answer.value.map((image) => ({
    ...(image.url === undefined ? {} : { url: image.url }),
    ...(image.base64 === undefined ? {} : { b64_json: image.base64 }),
    ...(image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt })
  })),
  model: answer.resolvedModel,
  provider: answer.provider,
  cost_usd: usdFromNano(answer.cost),
  request_id: answer.requestId,
  ...(answer.balanceWarning === undefined
    ? {}
    : { balance_warning: { warning: "low_balance", threshold: answer.balanceWarning } })
})
