import type { NewProject } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { showOverlay } from '../data/overlay.ts'
import { putProject } from '../data/projects.ts'
import { forProject, useDirectory } from '../issues/fields/directory.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox, Field, Input, Select, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { projectFields } from './fields.tsx'
import type { ProjectStatus } from './values.tsx'

const close = () => showOverlay(null)

/** The draft of a dialog that was closed, for the next time it is opened. */
let unsaved: NewProject = { title: '' }

/** The dialog for a new project, available on every screen. */
export function CreateProject() {
  const navigate = useNavigate()
  const { user } = useMe()
  const directory = useDirectory(forProject)
  const teams = projectFields.teams.options(directory)
  const [draft, setDraft] = useState<NewProject>(unsaved)
  const change = (fields: Partial<NewProject>) => {
    unsaved = { ...draft, ...fields }
    setDraft(unsaved)
  }
  const { personal = false, team_ids = [] } = draft
  const form = useForm(async () => {
    const { team_ids: _, ...own } = draft
    const project = await api.createProject({ lead_id: user.id, ...(personal ? own : draft) })
    unsaved = { title: '' }
    putProject(project)
    close()
    showToast(`${isolated(project.title)} created`)
    await navigate({ to: '/project/$projectId', params: { projectId: project.id } })
  }, ['title', 'description', 'team_ids'])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault()
      void form.submit()
    }
  }
  return (
    <Dialog open onClose={close} title="New project">
      <form onSubmit={form.submit} onKeyDown={onKeyDown} className="space-y-4 pb-3">
        <Field label="Title" error={form.errors.title && `The title ${form.errors.title}.`}>
          <Input
            required
            autoFocus
            maxLength={limits.title}
            value={draft.title}
            onChange={(event) => change({ title: event.target.value })}
          />
        </Field>
        <Field label="Description" optional error={form.errors.description}>
          <Textarea
            className="max-h-60 min-h-20"
            placeholder="Goal and definition of done, in Markdown"
            value={draft.description ?? ''}
            onChange={(event) => change({ description: event.target.value })}
          />
        </Field>
        <Field label="Status" className="max-w-48">
          <Select
            value={draft.status ?? 'idea'}
            onChange={(event) => change({ status: event.target.value as ProjectStatus })}
          >
            {projectFields.status.options(directory).map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        {!personal && teams.length > 0 && (
          <fieldset>
            <legend className="mb-1 font-medium">Teams</legend>
            <div className="flex flex-wrap gap-x-5 gap-y-1">
              {teams.map(({ value: id, label }) => (
                <Checkbox
                  key={id}
                  label={label}
                  checked={team_ids.includes(id)}
                  onChange={() =>
                    change({
                      team_ids: team_ids.includes(id) ? team_ids.filter((one) => one !== id) : [...team_ids, id],
                    })
                  }
                />
              ))}
            </div>
          </fieldset>
        )}
        <Checkbox
          label="Private"
          hint="Only you see it. Only your personal agents can work on it."
          checked={personal}
          onChange={(event) => change({ personal: event.target.checked })}
        />
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            Create project
            <Kbd keys="mod+enter" inverted className="ml-1 max-md:hidden" />
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
