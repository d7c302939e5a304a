import { useBlocker } from '@tanstack/react-router'
import { Confirm } from '../ui/dialog.tsx'

/** Asks before going away from something that is shown this once. */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => true,
    enableBeforeUnload: true,
    withResolver: true,
  })
  return (
    <Confirm
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title="Leave without the secrets?"
      action="Leave"
      onConfirm={async () => proceed?.()}
    >
      <p>They are shown this once. If you did not save them, you will have to make new ones.</p>
    </Confirm>
  )
}
