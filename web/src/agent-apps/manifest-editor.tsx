import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { fieldErrors } from '../ui/problem.ts'
import { sentence } from '../ui/sentence.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { type Json, parseJson, positionAt } from './json.ts'
import { JsonEditor } from './json-editor.tsx'
import { manifestText, valueAt } from './manifest.ts'
import { ManifestForm } from './manifest-form.tsx'

interface Props {
  text: string
  onChange: (text: string) => void
  /** Label of the submit button. */
  action: string
  /** May throw field errors, which are shown at the fields. */
  onSubmit: (manifest: Json) => Promise<void>
  children?: ReactNode
}

/** Field errors of the last submit. An error disappears when its field changes. */
function useFieldErrors(manifest: Json | undefined) {
  const [rejected, setRejected] = useState<{ sent: Json; fields: Record<string, string> } | null>(null)
  const errors =
    rejected && manifest !== undefined
      ? Object.fromEntries(
          Object.entries(rejected.fields)
            .filter(
              ([path]) => JSON.stringify(valueAt(manifest, path)) === JSON.stringify(valueAt(rejected.sent, path)),
            )
            .map(([path, message]) => [path, sentence(message)]),
        )
      : {}
  return { errors, setRejected }
}

/** Edits one manifest as a form and as JSON, side by side. */
export function ManifestEditor({ text, onChange, action, onSubmit, children }: Props) {
  const parsed = parseJson(text)
  const manifest = parsed.ok ? parsed.value : undefined
  const { errors, setRejected } = useFieldErrors(manifest)
  const [view, setView] = useState<'form' | 'json'>('form')
  const [rejections, setRejections] = useState(0)
  const form = useRef<HTMLFormElement>(null)

  // Only on mount: the form is also remounted while the JSON is edited.
  useEffect(() => form.current?.querySelector('input')?.focus(), [])

  // Focuses the first visible field with an error.
  useEffect(() => {
    if (rejections === 0) return
    const bad = [...(form.current?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [])]
    bad.find((field) => field.offsetParent !== null)?.focus()
  }, [rejections])

  const { run, busy, error, problem } = useAction(async (sent: Json) => {
    try {
      await onSubmit(sent)
      setRejected(null)
    } catch (error) {
      setRejected({ sent, fields: fieldErrors(error) })
      setRejections((count) => count + 1)
      throw error
    }
  })
  const submit = () => {
    if (manifest !== undefined) void run(manifest)
  }
  useCommands([
    {
      id: 'manifest.submit',
      title: action,
      section: 'Settings',
      keys: 'mod+enter',
      evenWhileTyping: true,
      run: submit,
    },
  ])
  const count = Object.keys(errors).length
  return (
    <form
      ref={form}
      className="space-y-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <ViewSwitch view={view} onChange={setView} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-4 lg:grid-cols-2">
        <div className={cx(view !== 'form' && 'max-lg:hidden')}>
          {parsed.ok ? (
            <ManifestForm manifest={parsed.value} errors={errors} onChange={(next) => onChange(manifestText(next))} />
          ) : (
            <Notice tone="warn" title="Invalid JSON">
              Line {positionAt(text, parsed.offset).line}: {parsed.message}. Fix the JSON to see the form.
            </Notice>
          )}
        </div>
        <div className={cx('min-w-0 lg:sticky lg:top-0', view !== 'json' && 'max-lg:hidden')}>
          <JsonEditor text={text} onChange={onChange} parsed={parsed} errors={errors} />
        </div>
      </div>
      {count > 0 && (
        <p role="alert" className="text-bad-ink">
          Fix {count === 1 ? '1 field' : `${count} fields`}. Nothing was saved.
        </p>
      )}
      {problem && Object.keys(fieldErrors(error)).length === 0 && (
        <Notice tone="bad" title="Not saved">
          {problem}
        </Notice>
      )}
      <div className="flex flex-wrap gap-2 border-t pt-4">
        <Button type="submit" look="primary" busy={busy} disabled={!parsed.ok} command="manifest.submit">
          {action}
        </Button>
        {children}
      </div>
    </form>
  )
}

/** On narrow screens, shows either the form or the JSON. */
const ViewSwitch = ({ view, onChange }: { view: 'form' | 'json'; onChange: (view: 'form' | 'json') => void }) => (
  <fieldset className="inline-flex gap-px rounded border bg-sunken p-0.5 lg:hidden">
    <legend className="sr-only">Edit the manifest as</legend>
    {(['form', 'json'] as const).map((one) => (
      <button
        key={one}
        type="button"
        aria-pressed={view === one}
        onClick={() => onChange(one)}
        className="rounded-sm px-3 py-1 text-ink-2 aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-card"
      >
        {one === 'form' ? 'Form' : 'JSON'}
      </button>
    ))}
  </fieldset>
)
