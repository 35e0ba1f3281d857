/** The steps and the ends of an axis. */

const NICE = [1, 2, 2.5, 5, 10]

/** A round step that divides an axis up to `most` into about this many lines. */
export const stepOf = (most: number, lines: number): number => {
  if (most <= 0) return 1
  const rough = most / lines
  const power = 10 ** Math.floor(Math.log10(rough))
  return (NICE.find((nice) => nice * power >= rough) ?? 10) * power
}

/** The lines of an axis. They include zero and reach at least from `least` to `most`. */
export const linesOf = (most: number, lines: number, least = 0): ReadonlyArray<number> => {
  const step = stepOf(most - least, lines)
  const below = Math.ceil(-least / step - 1e-9)
  const above = Math.max(below === 0 ? 1 : 0, Math.ceil(most / step - 1e-9))
  return Array.from({ length: below + above + 1 }, (_, at) => Number(((at - below) * step).toPrecision(12)))
}
