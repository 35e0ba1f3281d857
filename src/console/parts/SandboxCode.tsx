interface SandboxCodeProps {
  readonly code: string
  readonly onUse: () => void
}

/** The code that a sandbox shows in place of sending it. */
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
