import type { Issue, Milestone } from '@baton/protocol'
import { Ellipsis, Flag, Pencil, Plus, Trash2 } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { api, queries } from '../data/api.ts'
import { projectMilestonesQuery } from '../data/projects.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { DateButton } from '../ui/date-button.tsx'
import { dayOf, isPast, momentOf } from '../ui/day.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Menu } from '../ui/menu.tsx'
import { showToast } from '../ui/toast.tsx'

const changed = () => queries.invalidateQueries({ queryKey: ['workspace', 'milestones'] })

interface HeadingProps {
  milestone: Milestone
  issues: Issue[]
  onAdd: () => void
}

/** The heading of a milestone: its date, and how many of its issues are done. */
export function MilestoneHeading({ milestone, issues, onAdd }: HeadingProps) {
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null)
  const { name, target_date } = milestone
  const done = issues.filter(({ status }) => status === 'done').length
  const late = target_date !== null && done < issues.length && isPast(target_date)
  if (doing === 'edit') {
    return <MilestoneForm projectId={milestone.project_id} milestone={milestone} onDone={() => setDoing(null)} />
  }
  return (
    <div className="flex h-8 items-center gap-2 border-b">
      <Flag size={13} aria-hidden className="shrink-0 text-ink-3" />
      <h3 className="min-w-0 truncate font-medium">
        <bdi>{name}</bdi>
      </h3>
      {target_date && (
        <span className={cx('tabular shrink-0 text-xs', late ? 'text-bad-ink' : 'text-ink-3')}>
          {late ? 'was due' : 'due'} {dayOf(target_date)}
        </span>
      )}
      <span className="tabular ml-auto shrink-0 text-xs text-ink-3">
        {done} of {issues.length} done
      </span>
      <span className="-mr-1 flex shrink-0">
        <IconButton label={`Add issue to ${isolated(name)}`} icon={Plus} onClick={onAdd} />
        <Menu
          label={`Actions for ${isolated(name)}`}
          trigger={<IconButton label={`Actions for ${isolated(name)}`} icon={Ellipsis} />}
          items={[
            { label: 'Edit milestone', icon: Pencil, onPick: () => setDoing('edit') },
            { label: 'Delete milestone…', icon: Trash2, danger: true, onPick: () => setDoing('delete') },
          ]}
        />
      </span>
      <Confirm
        open={doing === 'delete'}
        onClose={() => setDoing(null)}
        title={`Delete ${isolated(name)}?`}
        action="Delete milestone"
        onConfirm={async () => {
          await api.deleteMilestone({ milestone_id: milestone.id })
          await changed()
          showToast(`${isolated(name)} deleted`)
        }}
      >
        <p>Its issues stay in the project, without a milestone.</p>
      </Confirm>
    </div>
  )
}

interface FormProps {
  projectId: string
  /** The milestone to edit; without it a new one is created. */
  milestone?: Milestone
  onDone: () => void
}

export function MilestoneForm({ projectId, milestone, onDone }: FormProps) {
  const [name, setName] = useState(milestone?.name ?? '')
  const [day, setDay] = useState(milestone?.target_date?.slice(0, 10) ?? '')
  const form = useForm(async () => {
    const fields = { name: name.trim(), target_date: day ? momentOf(day) : null }
    const saved = milestone
      ? await api.updateMilestone({ milestone_id: milestone.id, ...fields })
      : await api.createMilestone({ project_id: projectId, ...fields })
    queries.setQueryData(projectMilestonesQuery(projectId).queryKey, (before) =>
      before?.some(({ id }) => id === saved.id)
        ? before.map((one) => (one.id === saved.id ? saved : one))
        : [...(before ?? []), saved],
    )
    onDone()
    void changed()
  }, ['name', 'target_date'])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    onDone()
  }
  return (
    <form
      onSubmit={form.submit}
      onKeyDown={onKeyDown}
      aria-label={milestone ? `Edit ${isolated(milestone.name)}` : 'New milestone'}
      className="flex flex-wrap items-end gap-2 rounded border bg-surface p-3"
    >
      <Field label="Name" error={form.errors.name} className="min-w-40 flex-1">
        <Input required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Target date" error={form.errors.target_date} className="w-40">
        <DateButton label="Target date" day={day} onChange={setDay} />
      </Field>
      <span className="flex gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" look="primary" busy={form.busy}>
          {milestone ? 'Save' : 'Add milestone'}
        </Button>
      </span>
      {form.problem && (
        <p role="alert" className="basis-full text-xs text-bad-ink">
          {form.problem}
        </p>
      )}
    </form>
  )
}
