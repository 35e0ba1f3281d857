/** Statistics of samples. */

/** The nearest-rank percentile; `share` is 0.99 for p99. */
export const percentile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((one, other) => one - other)
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? Number.NaN
}

/** The median. */
export const median = (samples: ReadonlyArray<number>): number => {
  const sorted = samples.toSorted((one, other) => one - other)
  const half = sorted.length / 2
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(half)] ?? Number.NaN)
    : ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
}

/** The slope of the least-squares line. */
export const slope = (points: ReadonlyArray<{ readonly x: number; readonly y: number }>): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread
}
