/** What our secrets look like, so that none is written where it does not belong. */
const SECRET = /svc_[sm]k_[\w-]{16,}|whsec_[\w+/=-]{16,}/g

/** The text with none of our keys and signing secrets in it; their beginnings stay, so that they can be told. */
export const withoutSecrets = (text: string): string =>
  text.replace(SECRET, (secret) => `${secret.slice(0, secret.lastIndexOf("_", 7) + 1)}[redacted]`)

/** Whether one of our keys or signing secrets is in a text. */
export const holdsSecret = (text: string): boolean => text.search(SECRET) >= 0
