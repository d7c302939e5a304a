import type { View } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { rereadViews, useViews } from '../../data/views.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { isolated } from '../../ui/isolated.ts'
import { showToast } from '../../ui/toast.tsx'

interface Props {
  /** The query of a new view. Without it, only name and sharing of `view` are changed. */
  query?: string
  view?: View
  onClose: () => void
}

/** Saves a new view, replaces one, or renames and shares one. */
export function ViewDialog({ query, view, onClose }: Props) {
  const { user, isManager } = useMe()
  const views = useViews()
  const [replaced, setReplaced] = useState<View | undefined>(view)
  const [name, setName] = useState(view?.name ?? '')
  const [shared, setShared] = useState(view?.shared ?? false)
  const editable = views.filter(({ owner_id, shared }) => owner_id === user.id || (shared && isManager))

  const choose = (id: string) => {
    const chosen = editable.find((one) => one.id === id)
    setReplaced(chosen)
    setName(chosen?.name ?? '')
    setShared(chosen?.shared ?? false)
  }
  const form = useForm(async () => {
    const fields = { name: name.trim(), shared, ...(query !== undefined && { query }) }
    await (replaced ? api.updateView({ view_id: replaced.id, ...fields }) : api.createView({ query: '', ...fields }))
    await rereadViews()
    showToast(`View “${isolated(fields.name)}” saved`)
    onClose()
  }, ['name'])
  return (
    <Dialog open onClose={onClose} title={view ? 'Edit view' : 'Save view'} size="sm">
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
        {!view && editable.length > 0 && (
          <Field label="Save as">
            <Select value={replaced?.id ?? ''} onChange={(event) => choose(event.target.value)}>
              <option value="">New view</option>
              {editable.map(({ id, name }) => (
                <option key={id} value={id}>
                  Replace “<bdi>{name}</bdi>”
                </option>
              ))}
            </Select>
          </Field>
        )}
        <Checkbox
          label="Share with workspace"
          hint="Shown in everyone’s sidebar. Permissions still apply."
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
