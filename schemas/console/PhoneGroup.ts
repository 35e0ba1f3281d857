import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess } from "../Access.ts"
import { ConflictError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { PhoneCode, PhoneRequest, PhoneResult } from "./Phone.ts"

const writes = { limit: "console_writes", charge: "free" } as const

/** The phone number of an account. Verifying it grants a starter credit once. */
export class ConsolePhoneGroup extends HttpApiGroup.make("consolePhone")
  .add(
    HttpApiEndpoint.post("sendCode", "/console/phone", {
      payload: PhoneRequest,
      success: PhoneResult,
      error: ConflictError
    }).annotateMerge(operation("console.phone.create", "Send a code as a text message", writes)),
    HttpApiEndpoint.post("verifyPhone", "/console/phone/verify", {
      payload: PhoneCode,
      success: PhoneResult,
      error: ConflictError
    }).annotateMerge(operation("console.phone.verify", "Verify the phone number for a starter credit of $0.50", writes))
  )
  .middleware(OwnerAccess) {}
