import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess } from "../Access.ts"
import { ConflictError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import {
  BillingDetailsChange,
  BillingDetailsReport,
  EmailChanged,
  EmailCode,
  EmailRequest,
  EmailSent,
  NotificationChange,
  NotificationChoices
} from "./Settings.ts"

const reads = { limit: "console_reads", charge: "free" } as const
const writes = { limit: "console_writes", charge: "free" } as const

/** Settings of an account: its email address, its notifications, and the company that statements name. */
export class ConsoleSettingsGroup extends HttpApiGroup.make("consoleSettings")
  .add(
    HttpApiEndpoint.post("requestEmail", "/console/email", {
      payload: EmailRequest,
      success: EmailSent
    }).annotateMerge(operation("console.email.create", "Send a code to a new address of the account", writes)),
    HttpApiEndpoint.post("verifyEmail", "/console/email/verify", {
      payload: EmailCode,
      success: EmailChanged,
      error: ConflictError
    }).annotateMerge(
      operation("console.email.verify", "Change the address of the account, which ends all other sessions", writes)
    ),
    HttpApiEndpoint.get("getNotifications", "/console/notifications", { success: NotificationChoices }).annotateMerge(
      operation("console.notifications.get", "Retrieve which notifications the owner gets by email", reads)
    ),
    HttpApiEndpoint.patch("updateNotifications", "/console/notifications", {
      payload: NotificationChange,
      success: NotificationChoices
    }).annotateMerge(operation("console.notifications.update", "Choose which notifications come by email", writes)),
    HttpApiEndpoint.get("getBillingDetails", "/console/billing-details", {
      success: BillingDetailsReport
    }).annotateMerge(operation("console.billing_details.get", "Retrieve the company that statements name", reads)),
    HttpApiEndpoint.patch("updateBillingDetails", "/console/billing-details", {
      payload: BillingDetailsChange,
      success: BillingDetailsReport
    }).annotateMerge(operation("console.billing_details.update", "Change the company that statements name", writes))
  )
  .middleware(OwnerAccess) {}
