import { Secret } from "./Copy.tsx"
import { Dialog } from "./Dialog.tsx"

interface SecretDialogProps {
  readonly title: string
  readonly label: string
  readonly value: string
  readonly onClose: () => void
}

/** Shows a new secret, this once. */
export const SecretDialog = ({ label, onClose, title, value }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Secret label={label} value={value} />
    <div className="actions end">
      <button type="button" className="button primary" onClick={onClose}>
        I have stored it
      </button>
    </div>
  </Dialog>
)
