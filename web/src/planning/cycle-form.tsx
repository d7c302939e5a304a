import type { Cycle } from '@baton/protocol'
import { useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { DateButton } from '../ui/date-button.tsx'
import { momentOf } from '../ui/day.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { useSameNameWarning } from './same-name.ts'

interface Props {
  teamId: string
  cycles: readonly Cycle[]
  /** The cycle to edit; without it a new one is created. */
  cycle?: Cycle
  onClose: () => void
}

export function CycleForm({ teamId, cycles, cycle, onClose }: Props) {
  const [name, setName] = useState(cycle?.name ?? '')
  const [start, setStart] = useState(cycle?.starts_at?.slice(0, 10) ?? '')
  const [end, setEnd] = useState(cycle?.ends_at?.slice(0, 10) ?? '')
  const endsBeforeStart = start !== '' && end !== '' && end < start
  const { same, warn } = useSameNameWarning(
    name,
    cycles.filter(({ id, team_id }) => team_id === teamId && id !== cycle?.id),
  )
  const form = useForm(async () => {
    if (endsBeforeStart || (name.trim() !== cycle?.name && warn())) return
    const fields = {
      name: name.trim(),
      starts_at: momentFor(start, cycle?.starts_at),
      ends_at: momentFor(end, cycle?.ends_at),
    }
    const saved = cycle
      ? await api.updateCycle({ cycle_id: cycle.id, ...fields })
      : await api.createCycle({ team_id: teamId, ...fields })
    await rereadKey('workspace', 'cycles')
    showToast(cycle ? `${isolated(saved.name)} saved` : `${isolated(saved.name)} created`)
    onClose()
  }, ['name', 'starts_at', 'ends_at'])
  const endError = endsBeforeStart ? 'The end is before the start.' : form.errors.ends_at
  return (
    <Dialog open onClose={onClose} title={cycle ? `Edit ${isolated(cycle.name)}` : 'New cycle'} size="sm">
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <Field label="Name" error={form.errors.name}>
          <Input required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        {same && (
          <div role="alert">
            <Notice tone="warn">
              A cycle of this team is named <bdi className="font-semibold">{same.name}</bdi> already.
            </Notice>
          </div>
        )}
        <div className="grid grid-cols-2 gap-3">
          <Field label="Starts" optional error={form.errors.starts_at}>
            <DateButton label="Starts" day={start} onChange={setStart} />
          </Field>
          <Field label="Ends" optional error={endError}>
            <DateButton label="Ends" day={end} onChange={setEnd} />
          </Field>
        </div>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            {cycle ? (same ? 'Save anyway' : 'Save cycle') : same ? 'Create anyway' : 'Create cycle'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Keeps the hour of a day that was not changed: closing a cycle sets its end to the minute. */
const momentFor = (day: string, before: string | null | undefined) =>
  day === '' ? null : before?.startsWith(day) ? before : momentOf(day)
