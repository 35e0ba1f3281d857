const WIDTH = 84
const HEIGHT = 24

/** A small chart without axes. It shows how the figure beside it changed over time. */
export const Sparkline = ({ values }: { readonly values: ReadonlyArray<number> }) => {
  const most = Math.max(...values, 0)
  if (values.length < 2) return <span className="spark" />
  const points = values.map((value, at) => {
    const x = (at / (values.length - 1)) * WIDTH
    const y = most === 0 ? HEIGHT - 1 : HEIGHT - 1 - (value / most) * (HEIGHT - 3)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path className="area" d={`M0,${HEIGHT} L${points.join(" ")} L${WIDTH},${HEIGHT} Z`} />
      <path d={`M${points.join(" ")}`} />
    </svg>
  )
}
