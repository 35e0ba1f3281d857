/** Figures from samples. */

/** The smallest sample that so large a share of all is not above; nearest rank. */
export const percentile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((one, other) => one - other)
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? Number.NaN
}

/** The middle sample, or the mean of the two in the middle. */
export const median = (samples: ReadonlyArray<number>): number => {
  const sorted = samples.toSorted((one, other) => one - other)
  const half = sorted.length / 2
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(half)] ?? Number.NaN)
    : ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
}

/** How much `y` grows by with each `x`, by least squares. */
export const slope = (points: ReadonlyArray<{ readonly x: number; readonly y: number }>): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread
}
