import type { Cycle } from '@baton/protocol'
import { useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { putAnswer, useIssuesWhere } from '../data/issues.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Field, Select } from '../ui/field.tsx'
import { isolated } from '../ui/isolated.ts'
import { none, orNull } from '../ui/picker.tsx'
import { showToast } from '../ui/toast.tsx'

interface Props {
  cycle: Cycle
  /** Cycles of the same team that are not closed. */
  others: Cycle[]
  onClose: () => void
}

/** Ends a cycle now. Its unfinished issues stay in it, leave it, or move to another cycle. */
export function CloseCycle({ cycle, others, onClose }: Props) {
  const [target, setTarget] = useState(others[0]?.id ?? 'stay')
  const [moved, setMoved] = useState<{ count: number; of: number } | null>(null)
  const { issues: unfinished, complete } = useIssuesWhere(
    ({ cycle_id, status }) => cycle_id === cycle.id && status !== 'done',
    [cycle.id],
  )
  const close = async () => {
    if (target !== 'stay') {
      for (const [index, { id }] of unfinished.entries()) {
        setMoved({ count: index, of: unfinished.length })
        await putAnswer(api.updateIssue({ issue_id: id, cycle_id: orNull(target) }))
      }
    }
    await api.updateCycle({ cycle_id: cycle.id, ends_at: new Date().toISOString() })
    await rereadKey('workspace', 'cycles')
    showToast(`${isolated(cycle.name)} closed`)
  }
  return (
    <Confirm
      open={complete}
      onClose={onClose}
      title={`Close ${isolated(cycle.name)}?`}
      action="Close cycle"
      danger={false}
      onConfirm={close}
    >
      <p>The cycle ends now.</p>
      <Field label={`Unfinished issues (${unfinished.length})`}>
        <Select value={target} onChange={(event) => setTarget(event.target.value)}>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              Move to {name}
            </option>
          ))}
          <option value="stay">Stay in {cycle.name}</option>
          <option value={none}>Remove from the cycle</option>
        </Select>
      </Field>
      {moved && (
        <p role="status" className="tabular text-xs">
          Moved {moved.count} of {moved.of} issues…
        </p>
      )}
    </Confirm>
  )
}
