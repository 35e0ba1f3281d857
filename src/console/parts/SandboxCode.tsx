interface SandboxCodeProps {
  readonly code: string
  readonly onUse: () => void
}

/** A code that a sandbox sends to no telephone and no mailbox. */
export const SandboxCode = ({ code, onUse }: SandboxCodeProps) => (
  <div className="banner">
    <span>
      Sandbox code <strong className="mono">{code}</strong>
    </span>
    <button type="button" className="button tiny" onClick={onUse}>
      Use it
    </button>
  </div>
)
