/** Steps and ends of an axis. */

const NICE = [1, 2, 2.5, 5, 10]

/** The step between lines of an axis up to `most`, in about `lines` steps. */
export const stepOf = (most: number, lines: number): number => {
  if (most <= 0) return 1
  const rough = most / lines
  const power = 10 ** Math.floor(Math.log10(rough))
  return (NICE.find((nice) => nice * power >= rough) ?? 10) * power
}

/** The lines of an axis, from zero to the first one at or above `most`. */
export const linesOf = (most: number, lines: number): ReadonlyArray<number> => {
  const step = stepOf(most, lines)
  const count = Math.max(1, Math.ceil(most / step - 1e-9))
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)))
}
