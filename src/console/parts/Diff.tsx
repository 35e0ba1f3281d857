import type { Difference } from "../data/Differences.ts"

interface DiffProps {
  readonly label: string
  readonly lines: ReadonlyArray<Difference>
}

const Sign = ({ of, said }: { readonly of: "−" | "+"; readonly said: string }) => (
  <>
    <span aria-hidden="true">{of} </span>
    <span className="unseen">{said} </span>
  </>
)

/** What went and what came, a field a line, told apart by a sign and by a colour. */
export const Diff = ({ label, lines }: DiffProps) => (
  <ul className="diff" tabIndex={0} aria-label={label}>
    {lines.map(({ after, before, field }) => (
      <li key={field}>
        {before === undefined ? null : (
          <del>
            <Sign of="−" said="Before:" />
            <span className="field-name">{field}</span> {before}
          </del>
        )}
        {after === undefined ? null : (
          <ins>
            <Sign of="+" said="After:" />
            <span className="field-name">{field}</span> {after}
          </ins>
        )}
      </li>
    ))}
  </ul>
)
