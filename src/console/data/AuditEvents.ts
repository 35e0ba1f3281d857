/** The events of an account's audit log, grouped by the thing that they change. */
export const auditEvents: Readonly<Record<string, ReadonlyArray<string>>> = {
  Keys: ["key.created", "key.updated", "key.rotated", "key.revoked"],
  Projects: ["project.created", "project.updated", "project.archived"],
  Presets: ["preset.created", "preset.updated", "preset.activated", "preset.removed"],
  Webhooks: [
    "webhook.created",
    "webhook.updated",
    "webhook.secret_rotated",
    "webhook.tested",
    "webhook.redelivered",
    "webhook.disabled",
    "webhook.removed"
  ],
  Money: [
    "top_up.created",
    "top_up.paid",
    "top_up.simulated",
    "top_up.ended",
    "top_up.refund_reported",
    "top_up.dispute_reported",
    "top_up.settled",
    "top_up.dismissed",
    "balance.topped_up",
    "balance.adjusted",
    "balance.simulated_voided",
    "request.refunded"
  ],
  "Sign-in": ["session.created", "session.ended", "session.others_ended", "session.all_ended"],
  Account: [
    "account.created",
    "account.suspended",
    "account.resumed",
    "account.closed",
    "account.plan_changed",
    "account.markup_changed",
    "account.limits_changed",
    "email.code_sent",
    "email.changed",
    "phone.code_sent",
    "phone.verified",
    "billing_details.changed",
    "notifications.changed",
    "audit.acknowledged"
  ],
  "Batches and files": ["batch.cancelled", "file.deleted"]
}
