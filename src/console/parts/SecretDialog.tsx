import { Secret } from "./Copy.tsx"
import { CloseButton, Dialog } from "./Dialog.tsx"

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
    <CloseButton name="I have stored it" onClose={onClose} />
  </Dialog>
)
