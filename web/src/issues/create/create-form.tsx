import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { api, isBatonError } from '../../data/api.ts'
import { putIssue } from '../../data/issues.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { fieldErrors, messageOf } from '../../ui/problem.ts'
import { say } from '../../ui/toast.tsx'
import { useKnown } from '../fields/known.tsx'
import { type Draft, issueOf, leave, newDraft, nothingLeft, placeOf, rememberTeam } from './draft.ts'

// The words come first: whoever types at once loses no letter while the rest is on its way.
const CreateProperties = lazy(() =>
  import('./create-properties.tsx').then((module) => ({ default: module.CreateProperties })),
)

interface Props {
  preset: Record<string, unknown> | undefined
  onClose: () => void
}

/** What is wrong, by field; what belongs to none of them under ''. */
function problemsOf(error: unknown): Record<string, string> {
  if (!error) return {}
  if (isBatonError(error, 'DELEGATION_REQUIRES_ASSIGNEE')) {
    return { assignee_id: 'Choose somebody of the team: a person stays accountable for what an agent does.' }
  }
  if (isBatonError(error, 'DELEGATE_UNAVAILABLE')) return { delegate_id: messageOf(error) }
  const fields = fieldErrors(error)
  return Object.keys(fields).length > 0 ? fields : { '': messageOf(error) }
}

export function CreateForm({ preset, onClose }: Props) {
  const known = useKnown()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() =>
    newDraft(
      preset,
      known.teams.map(({ id }) => id),
    ),
  )
  useEffect(() => {
    // The teams may come after the dialog.
    const ids = known.teams.map(({ id }) => id)
    if (ids.length > 0) setDraft((before) => (before.team_id ? before : { ...before, ...placeOf(preset, ids) }))
  }, [known.teams, preset])
  const [more, setMore] = useState(false)
  const title = useRef<HTMLInputElement>(null)
  const change = (fields: Partial<Draft>) =>
    setDraft((before) => {
      // A milestone is of its project alone.
      const after = { ...before, ...('project_id' in fields && { milestone_id: null }), ...fields }
      leave(after)
      return after
    })

  const created = (issue: Issue) => {
    putIssue(issue)
    if (issue.team_id) rememberTeam(issue.team_id)
    leave(nothingLeft)
    say(`${issue.code} created`, {
      action: { label: 'Open', run: () => void navigate({ to: '/issue/$code', params: { code: issue.code } }) },
    })
    if (!more) return onClose()
    change({ ...nothingLeft, due: '' })
    title.current?.focus()
  }
  const {
    run: create,
    busy,
    error,
  } = useAction(async () => {
    if (!draft.title.trim()) {
      title.current?.focus()
      throw new Error('Give it a title first.')
    }
    created(await api.createIssue(issueOf(draft)))
  })
  const problems = problemsOf(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void create()
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    void create()
  }
  return (
    <form onSubmit={submit} onKeyDown={keys} className="space-y-2 pb-1">
      <input
        ref={title}
        // biome-ignore lint/a11y/noAutofocus: a dialog begins where one types
        autoFocus
        aria-label="Title"
        aria-invalid={problems.title ? true : undefined}
        aria-describedby={problems.title ? 'create-title-error' : undefined}
        placeholder="What is to be done?"
        maxLength={limits.title}
        value={draft.title}
        onChange={(event) => change({ title: event.target.value })}
        className="w-full bg-transparent text-xl font-semibold outline-none placeholder:text-ink-3"
      />
      {problems.title && (
        <p id="create-title-error" role="alert" className="text-xs text-bad-ink">
          The title {problems.title}.
        </p>
      )}
      <textarea
        aria-label="Description"
        placeholder="Add a description, in Markdown…"
        rows={4}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
        className="field-sizing-content max-h-72 min-h-24 w-full resize-none bg-transparent text-base outline-none placeholder:text-ink-3"
      />
      <Suspense fallback={<div className="h-7" />}>
        <CreateProperties draft={draft} change={change} known={known} problems={problems} />
      </Suspense>
      {problems[''] && (
        <p role="alert" className="text-bad-ink">
          {problems['']}
        </p>
      )}
      <div className="-mx-5 flex flex-wrap items-center justify-end gap-3 border-t px-5 pt-3 pb-1">
        <Checkbox label="Create more" checked={more} onChange={(event) => setMore(event.target.checked)} />
        <Button type="submit" look="primary" busy={busy}>
          Create issue
          <Kbd keys="mod+enter" className="ml-1 max-md:hidden" />
        </Button>
      </div>
    </form>
  )
}
