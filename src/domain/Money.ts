/** An amount of money in nano-USD (1e-9 USD). Every stored or compared amount is one of these. */
export type Nano = bigint

/** A rate in pico-USD (1e-12 USD) for one unit: a token, an image, a request. */
export type Pico = bigint

/** The number of nano-USD in one US dollar. */
export const NANO_PER_USD = 1_000_000_000n
/** The number of nano-USD in one cent. */
export const NANO_PER_CENT = 10_000_000n
const PICO_PER_NANO = 1_000n

/** The one rounding of the system: a cost in pico-USD, rounded up to the next nano-USD. */
export const nanoFromPico = (pico: bigint): Nano => (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO

/** A published rate in USD per million units as pico-USD per unit; finer digits than a pico-USD are rounded half up. */
export const picoPerUnit = (usdPerMillion: number): Pico => BigInt(Math.round(usdPerMillion * 1_000_000))

/** A published price in USD for one unit as pico-USD. */
export const picoFromUsd = (usd: number): Pico => BigInt(Math.round(usd * 1e12))

/** A decimal number of USD as nano-USD; digits beyond the ninth are cut. Returns undefined for anything else. */
export const nanoFromUsd = (usd: string | number): Nano | undefined => {
  const text = typeof usd === "number" ? decimalText(usd) : usd.trim()
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = "", whole = "0", fraction = ""] = match
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.slice(0, 9).padEnd(9, "0"))
  return sign === "-" ? -nano : nano
}

const decimalText = (usd: number) => (Number.isFinite(usd) ? usd.toFixed(9) : "")

/** An amount as the JSON number of USD that answers and receipts show. */
export const usdFromNano = (nano: Nano): number => Number(nano) / 1e9

/** An amount as the JSON number of cents that budgets are shown in. */
export const centsFromNano = (nano: Nano): number => Number(nano) / Number(NANO_PER_CENT)

/** A rate as the JSON number of USD that the catalogue and receipts show. */
export const usdFromPico = (pico: Pico): number => Number(pico) / 1e12

const partsOf = (nano: Nano) => {
  const positive = nano < 0n ? -nano : nano
  const fraction = (positive % NANO_PER_USD).toString().padStart(9, "0").replace(/0+$/, "").padEnd(2, "0")
  return { sign: nano < 0n ? "-" : "", whole: String(positive / NANO_PER_USD), fraction }
}

/** An amount for a sentence, with thousands separators: at least cents, more digits only when there are some. */
export const formatUsd = (nano: Nano): string => {
  const { fraction, sign, whole } = partsOf(nano)
  return `${sign}$${whole.replace(/\B(?=(?:\d{3})+$)/g, ",")}.${fraction}`
}

/** The same for programs: a decimal number without an exponent, a sign of money and separators. */
export const decimalUsd = (nano: Nano): string => {
  const { fraction, sign, whole } = partsOf(nano)
  return `${sign}${whole}.${fraction}`
}

/** The smaller of two amounts. */
export const minNano = (a: Nano, b: Nano): Nano => (a < b ? a : b)

/** The larger of two amounts. */
export const maxNano = (a: Nano, b: Nano): Nano => (a > b ? a : b)
