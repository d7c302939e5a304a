import type { Workspace } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { workspaceQuery } from '../../data/workspaces.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Notice } from '../../ui/states.tsx'
import { exactTime } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'

/** Says what is deleted and when; afterwards, until when it can be canceled. */
export function DeleteWorkspace() {
  const workspace = useQuery(workspaceQuery)
  return (
    <Section title="Delete this workspace">
      <Loaded query={workspace} rows={3}>
        {(workspace) => (workspace.deletion_at === null ? <Start workspace={workspace} /> : <Pending {...workspace} />)}
      </Loaded>
    </Section>
  )
}

function Start({ workspace: { name } }: { workspace: Workspace }) {
  const [deleting, setDeleting] = useState(false)
  const start = async () => {
    queries.setQueryData(workspaceQuery.queryKey, await api.startDeletion({ name }))
    showToast(`${isolated(name)} will be deleted`)
  }
  return (
    <div className="space-y-3">
      <p className="text-ink-2">
        Deletes all issues, projects, comments, files, agents and settings, after a delay that the operator of this
        instance sets, by default 14 days. Until then members can read everything, nothing can be changed, and any owner
        can cancel.
      </p>
      <Button look="danger" onClick={() => setDeleting(true)}>
        Delete workspace
      </Button>
      {deleting && (
        <Confirm
          open
          onClose={() => setDeleting(false)}
          title={`Delete ${isolated(name)}?`}
          action="Delete workspace"
          typed={name}
          onConfirm={start}
        >
          <p>Running agent sessions and imports stop now, and webhooks are paused. All owners are told by mail.</p>
          <p>When the data is deleted, it cannot be restored. Export it first if you may need it.</p>
        </Confirm>
      )}
    </div>
  )
}

function Pending({ name, deletion_at: at }: Workspace) {
  const { role } = useMe()
  return (
    <div className="space-y-3">
      <Notice tone="warn" title={`${isolated(name)} will be deleted on ${exactTime(at ?? '')}`}>
        <p>Until then it can only be read. Webhooks are paused; held deliveries are sent after a cancel.</p>
      </Notice>
      {role === 'owner' && <CancelDeletion />}
    </div>
  )
}

function CancelDeletion() {
  const [canceling, setCanceling] = useState(false)
  return (
    <>
      <Button onClick={() => setCanceling(true)}>Cancel deletion</Button>
      {canceling && <ConfirmCancel onClose={() => setCanceling(false)} />}
    </>
  )
}

export function ConfirmCancel({ onClose }: { onClose: () => void }) {
  const cancel = async () => {
    await api.cancelDeletion()
    await queries.invalidateQueries({ queryKey: ['workspace'] })
    showToast('Canceled the deletion')
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title="Keep this workspace?"
      action="Keep workspace"
      danger={false}
      onConfirm={cancel}
    >
      <p>Members can change it again, and held deliveries are sent. Agent sessions that were stopped stay stopped.</p>
    </Confirm>
  )
}
