/** What our secrets look like, so that none is written where it does not belong. */
const SECRET = /(svc_[sm]k_|whsec_)[\w+/=-]{16,}/g

/** The text with none of our keys and signing secrets in it; their first words stay, so that they can be told. */
export const withoutSecrets = (text: string): string => text.replace(SECRET, "$1[redacted]")

/** Whether one of our keys or signing secrets is in a text. */
export const holdsSecret = (text: string): boolean => text.search(SECRET) >= 0
