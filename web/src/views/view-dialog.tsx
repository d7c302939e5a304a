import type { View } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { rereadViews, useViews } from '../data/views.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { say } from '../ui/toast.tsx'

interface Props {
  /** What it shows; with a view, only its name and who sees it are changed. */
  query?: string
  view?: View
  onClose: () => void
}

/** Keeps a view as new or in place of another, or changes one. */
export function ViewDialog({ query, view, onClose }: Props) {
  const { user, isManager } = useMe()
  const views = useViews()
  const [replaced, setReplaced] = useState<View | undefined>(view)
  const [name, setName] = useState(view?.name ?? '')
  const [shared, setShared] = useState(view?.shared ?? false)
  const own = views.filter(({ owner_id, shared }) => owner_id === user.id || (shared && isManager))

  const choose = (id: string) => {
    const chosen = own.find((one) => one.id === id)
    setReplaced(chosen)
    setName(chosen?.name ?? '')
    setShared(chosen?.shared ?? false)
  }
  const form = useForm(async () => {
    const fields = { name: name.trim(), shared, ...(query !== undefined && { query }) }
    await (replaced ? api.updateView({ view_id: replaced.id, ...fields }) : api.createView({ query: '', ...fields }))
    await rereadViews()
    say(`View “${fields.name}” saved`)
    onClose()
  }, ['name'])
  return (
    <Dialog open onClose={onClose} title={view ? 'Change view' : 'Save view'} size="sm">
      <form className="space-y-3 pb-3" onSubmit={form.submit}>
        <Field label="Name" error={form.errors.name}>
          <Input
            value={name}
            onChange={(event) => setName(event.target.value)}
            maxLength={limits.name}
            autoFocus
            required
          />
        </Field>
        {!view && own.length > 0 && (
          <Field label="Save as">
            <Select value={replaced?.id ?? ''} onChange={(event) => choose(event.target.value)}>
              <option value="">A new view</option>
              {own.map(({ id, name }) => (
                <option key={id} value={id}>
                  In place of “{name}”
                </option>
              ))}
            </Select>
          </Field>
        )}
        <Checkbox
          label="Share with everybody"
          hint="It stands in everybody’s sidebar. What each person sees in it stays what they may see."
          checked={shared}
          onChange={(event) => setShared(event.target.checked)}
        />
        {form.problem && (
          <p role="alert" className="text-bad-ink">
            {form.problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy} disabled={!name.trim()}>
            Save view
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
