interface ProgressProps {
  readonly label: string
  /** From 0 to 1. */
  readonly part: number
  readonly tone?: "bad"
}

/** The progress of a long job, as a bar. */
export const Progress = ({ label, part, tone }: ProgressProps) => (
  <div
    className={tone === undefined ? "meter" : `meter ${tone}`}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(part * 100)}
  >
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect className="track" width="100" height="4" />
      <rect className="fill" width={part * 100} height="4" />
    </svg>
  </div>
)
