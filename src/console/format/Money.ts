/** Formats amounts in US dollars. */

const CENT = 0.01
const SIGNIFICANT = 4

const currency = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", ...options })

const usual = currency({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
/** Formats for amounts below a dollar, by the number of digits that they need. */
const small = Array.from({ length: 16 }, (_, digits) =>
  currency({ minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, digits) })
)
const full = currency({ minimumFractionDigits: 2, maximumFractionDigits: 15 })

/** The minus sign is as wide as a digit. */
const signed = (usd: number, text: string): string => (usd < 0 ? `−${text}` : text)

/** An amount: to the cent from one dollar on, and with four significant digits below, so that small prices stay exact. */
export const money = (usd: number): string => {
  const size = Math.abs(usd)
  if (size === 0 || size >= 1) return signed(usd, usual.format(size))
  const digits = Math.min(small.length - 1, SIGNIFICANT - 1 - Math.floor(Math.log10(size)))
  return signed(usd, small[digits]!.format(size))
}

const tens = currency({ maximumFractionDigits: 0, roundingMode: "floor" })
const compact = currency({ notation: "compact", maximumFractionDigits: 1, roundingMode: "floor" })

/** An amount in a few digits, rounded down, so that it never shows more money than there is. */
export const briefMoney = (usd: number): string => {
  if (usd < 10) return usual.format(Math.floor(Math.max(0, usd) * 100 + 1e-6) / 100)
  return (usd < 1_000 ? tens : compact).format(usd)
}

/** An amount with all its digits. */
export const exactMoney = (usd: number): string => {
  // A double holds 15 significant digits. The others are rounding errors of sums.
  const size = Number(Math.abs(usd).toPrecision(15))
  return signed(usd, full.format(size))
}

/** An amount that moved, with its sign: +$1.00, −$1.00, or $0.00. */
export const signedMoney = (usd: number, format: (usd: number) => string = money): string =>
  usd === 0 ? format(0) : `${usd > 0 ? "+" : "−"}${format(Math.abs(usd))}`

/** An amount on an axis, with the precision of the step between its lines. */
export const axisMoney = (usd: number, step: number): string => {
  const digits = step >= 1 ? 0 : Math.max(2, Math.ceil(-Math.log10(step)))
  const size = Math.abs(usd)
  return signed(
    usd,
    step >= CENT || step === 0
      ? currency({ minimumFractionDigits: Math.min(digits, 2), maximumFractionDigits: Math.min(digits, 2) }).format(
          size
        )
      : currency({ minimumFractionDigits: 2, maximumFractionDigits: Math.min(digits, 15) }).format(size)
  )
}

/** The price of a million tokens, from the price of one. A dash stands for no price. */
export const perMillion = (perToken: number | null): string => (perToken === null ? "—" : money(perToken * 1e6))
