/** The form of the gateway's secrets. Logs and audit entries must not contain them. */
const SECRET = /(svc_[smo]k_|whsec_)[\w+/=-]{16,}/g

/** Returns the text with keys and signing secrets redacted. Their prefixes remain, so that readers can tell the kinds apart. */
export const withoutSecrets = (text: string): string => text.replace(SECRET, "$1[redacted]")

/** Reports whether the text contains a key or a signing secret. */
export const holdsSecret = (text: string): boolean => text.search(SECRET) >= 0
