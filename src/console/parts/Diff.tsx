import type { Difference } from "../data/Differences.ts"

interface DiffProps {
  readonly label: string
  readonly lines: ReadonlyArray<Difference>
}

const Sign = ({ label, of }: { readonly of: "−" | "+"; readonly label: string }) => (
  <>
    <span aria-hidden="true">{of} </span>
    <span className="unseen">{label} </span>
  </>
)

/** The former and the new value of each changed field, marked by a sign and a colour. */
export const Diff = ({ label, lines }: DiffProps) => (
  <ul className="diff" tabIndex={0} aria-label={label}>
    {lines.map(({ after, before, field }) => (
      <li key={field}>
        {before === undefined ? null : (
          <del>
            <Sign of="−" label="Before:" />
            <span className="field-name">{field}</span> {before}
          </del>
        )}
        {after === undefined ? null : (
          <ins>
            <Sign of="+" label="After:" />
            <span className="field-name">{field}</span> {after}
          </ins>
        )}
      </li>
    ))}
  </ul>
)
