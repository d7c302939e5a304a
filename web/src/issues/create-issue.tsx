import { showOverlay, useOverlay } from '../shell/overlay.ts'
import { Dialog } from '../ui/dialog.tsx'

/** To be filled in. */
export function CreateIssue() {
  const open = useOverlay()?.name === 'create-issue'
  return <Dialog open={open} onClose={() => showOverlay(null)} title="New issue" />
}
