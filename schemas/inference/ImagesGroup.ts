import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"
import { ImageList, ImageRequest } from "./Images.ts"

/** Images from text, and from other images. */
export class ImagesGroup extends HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("generations", "/images/generations", {
      headers: idempotency,
      payload: ImageRequest,
      success: ImageList,
      error: paidErrors
    }).annotateMerge(operation("images.generations", "Make or edit images", { limit: "default", charge: "images" }))
  )
  .middleware(InferenceAccess) {}
