import type { ReactNode } from "react"
import { Sparkline } from "../charts/Sparkline.tsx"
import { Signed } from "./Figures.tsx"
import { Skeleton } from "./States.tsx"

interface TileProps {
  readonly label: string
  /** The figure; undefined during the read. */
  readonly figure: ReactNode
  readonly title?: string
  readonly change?: string | undefined
  readonly values?: ReadonlyArray<number> | undefined
}

/** A figure with a note below it, such as its change, and a sparkline. */
export const Tile = ({ change, figure, label, title, values }: TileProps) => (
  <div className="tile">
    <span className="label">{label}</span>
    <span className="figure number" title={title}>
      {figure === undefined ? (
        <Skeleton height={28} width={96} />
      ) : typeof figure === "string" ? (
        <Signed text={figure} />
      ) : (
        figure
      )}
    </span>
    <span className="change number">{change ?? "\u00a0"}</span>
    {values === undefined ? null : <Sparkline values={values} />}
  </div>
)
