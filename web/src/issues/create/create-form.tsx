import '../../data/files.ts'
import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { api, isBatonError } from '../../data/api.ts'
import { putIssue } from '../../data/issues.ts'
import { useAction } from '../../ui/action.ts'
import { useAttachments } from '../../ui/attach.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { fieldErrors, messageOf } from '../../ui/problem.ts'
import { showToast } from '../../ui/toast.tsx'
import { useDirectory } from '../fields/directory.ts'
import { currentPreset } from './create-preset.ts'
import { type Draft, keepText, newDraft, newIssue, noText, teamFor } from './draft.ts'
import { lastTeam, rememberTeam } from './last-team.ts'

// The text inputs come first, so that no typed letter is lost while the other fields load.
const FormFields = lazy(() => import('./form-fields.tsx').then((module) => ({ default: module.FormFields })))

interface Props {
  preset: Record<string, unknown> | undefined
  onClose: () => void
}

/** Errors by field; those without a field under ''. */
function errorsOf(error: unknown): Record<string, string> {
  if (!error) return {}
  if (isBatonError(error, 'DELEGATION_REQUIRES_ASSIGNEE')) {
    return { assignee_id: 'Choose a team member who is accountable for the agent’s work.' }
  }
  if (isBatonError(error, 'DELEGATE_UNAVAILABLE')) return { delegate_id: messageOf(error) }
  const fields = fieldErrors(error)
  return Object.keys(fields).length > 0 ? fields : { '': messageOf(error) }
}

export function CreateForm({ preset, onClose }: Props) {
  const directory = useDirectory()
  const navigate = useNavigate()
  const [start] = useState<Partial<Draft>>(() => ({ ...currentPreset(), ...preset }))
  const [draft, setDraft] = useState(() => newDraft(start, [...directory.teams.keys()], lastTeam(directory)))
  useEffect(() => {
    // The teams may be read after the dialog has opened.
    const ids = [...directory.teams.keys()]
    if (ids.length > 0)
      setDraft((before) => (before.team_id ? before : { ...before, ...teamFor(start, ids, lastTeam(directory)) }))
  }, [directory, start])
  const [more, setMore] = useState(false)
  const title = useRef<HTMLInputElement>(null)
  const change = (update: (draft: Draft) => Partial<Draft>) =>
    setDraft((before) => {
      const after = { ...before, ...update(before) }
      keepText(after)
      return after
    })

  const created = (issue: Issue) => {
    putIssue(issue)
    if (issue.team_id) rememberTeam(directory, issue.team_id)
    keepText(noText)
    showToast(`${issue.code} created`, {
      action: { label: 'Open', run: () => void navigate({ to: '/issue/$code', params: { code: issue.code } }) },
    })
    if (!more) return onClose()
    change(() => ({ ...noText, due_date: null }))
    title.current?.focus()
  }
  const {
    run: create,
    busy,
    error,
  } = useAction(async () => {
    if (!draft.title.trim()) {
      title.current?.focus()
      throw new Error('Enter a title.')
    }
    created(await api.createIssue(newIssue(draft)))
  })
  const errors = errorsOf(error)
  const description = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments(description, (text) => change(() => ({ description: text })))
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
        // biome-ignore lint/a11y/noAutofocus: the dialog starts with the title
        autoFocus
        aria-label="Title"
        aria-invalid={errors.title ? true : undefined}
        aria-describedby={errors.title ? 'create-title-error' : undefined}
        placeholder="Issue title"
        maxLength={limits.title}
        value={draft.title}
        onChange={(event) => change(() => ({ title: event.target.value }))}
        className="w-full bg-transparent text-xl font-semibold outline-none placeholder:text-ink-3"
      />
      {errors.title && (
        <p id="create-title-error" role="alert" className="text-xs text-bad-ink">
          The title {errors.title}.
        </p>
      )}
      <textarea
        ref={description}
        {...attachments.handlers}
        aria-label="Description"
        placeholder="Add a description, in Markdown…"
        rows={4}
        value={draft.description}
        onChange={(event) => change(() => ({ description: event.target.value }))}
        className="field-sizing-content max-h-72 min-h-24 w-full resize-none bg-transparent text-base outline-none placeholder:text-ink-3"
      />
      {attachments.list}
      <Suspense fallback={<div className="h-7" />}>
        <FormFields draft={draft} change={change} directory={directory} errors={errors} />
      </Suspense>
      {errors[''] && (
        <p role="alert" className="text-bad-ink">
          {errors['']}
        </p>
      )}
      <div className="-mx-5 flex flex-wrap items-center justify-end gap-3 border-t px-5 pt-3 pb-1">
        {attachments.button}
        <Checkbox label="Create more" checked={more} onChange={(event) => setMore(event.target.checked)} />
        <Button type="submit" look="primary" busy={busy} disabled={attachments.busy}>
          Create issue
          <Kbd keys="mod+enter" className="ml-1 max-md:hidden" />
        </Button>
      </div>
    </form>
  )
}
