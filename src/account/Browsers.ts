/** The order matters: most browsers also name those that they imitate. */
const browsers = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bVersion\/\S+.*\bSafari\//, "Safari"],
  [/^curl\//, "curl"]
] as const

const systems = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"]
] as const

const firstOf = (list: ReadonlyArray<readonly [RegExp, string]>, userAgent: string): string | undefined =>
  list.find(([mark]) => mark.test(userAgent))?.[1]

/**
 * Returns the browser and the system that a `User-Agent` header names, such as `Firefox on Linux`; null when it names none that is
 * known. A client may send any header, so the result helps owners to recognize a session and proves nothing.
 */
export const browserOf = (userAgent: string | undefined): string | null => {
  const text = userAgent ?? ""
  const [browser, system] = [firstOf(browsers, text), firstOf(systems, text)]
  if (browser === undefined) return system ?? null
  return system === undefined ? browser : `${browser} on ${system}`
}
