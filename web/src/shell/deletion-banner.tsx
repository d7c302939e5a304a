import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMe } from '../data/me.ts'
import { workspaceQuery } from '../data/workspaces.ts'
import { ConfirmCancel } from '../settings/deletion/delete-workspace.tsx'
import { exactTime } from '../ui/time.tsx'

const action = 'font-medium underline underline-offset-2'

/** Shown on every screen while the deletion of the workspace is pending. */
export function DeletionBanner() {
  const { role } = useMe()
  const at = useQuery(workspaceQuery).data?.deletion_at ?? null
  const [canceling, setCanceling] = useState(false)
  if (at === null) return null
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center justify-center gap-x-2 gap-y-1 border-b bg-warn-wash px-4 py-1.5 text-xs text-warn-ink max-md:pl-13"
    >
      <Trash2 size={13} aria-hidden className="shrink-0 max-md:hidden" />
      <span>
        This workspace is read-only and will be deleted on <time dateTime={at}>{exactTime(at)}</time>.
      </span>
      {role === 'owner' ? (
        <button type="button" className={action} onClick={() => setCanceling(true)}>
          Cancel deletion
        </button>
      ) : (
        role === 'admin' && (
          <Link to="/settings/export" className={action}>
            Details
          </Link>
        )
      )}
      {canceling && <ConfirmCancel onClose={() => setCanceling(false)} />}
    </div>
  )
}
