import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { fieldErrors } from '../ui/problem.ts'
import { sentence } from '../ui/sentence.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { type Json, placeOf, readJson } from './json.ts'
import { JsonEditor } from './json-editor.tsx'
import { valueAt, written } from './manifest.ts'
import { ManifestForm } from './manifest-form.tsx'

interface Props {
  text: string
  onChange: (text: string) => void
  /** What the button says. */
  action: string
  /** What the server refuses is shown beside each field. */
  onSubmit: (manifest: Json) => Promise<void>
  children?: ReactNode
}

/** Only what is still as it was when the server refused it is still wrong. */
function useRefusals(manifest: Json | undefined) {
  const [refused, setRefused] = useState<{ sent: Json; fields: Record<string, string> } | null>(null)
  const errors =
    refused && manifest !== undefined
      ? Object.fromEntries(
          Object.entries(refused.fields)
            .filter(([path]) => JSON.stringify(valueAt(manifest, path)) === JSON.stringify(valueAt(refused.sent, path)))
            .map(([path, message]) => [path, sentence(message)]),
        )
      : {}
  return { errors, setRefused }
}

/** A manifest two ways, always the same: a form that writes it, and the JSON itself. */
export function ManifestEditor({ text, onChange, action, onSubmit, children }: Props) {
  const read = readJson(text)
  const manifest = read.ok ? read.value : undefined
  const { errors, setRefused } = useRefusals(manifest)
  const [shown, setShown] = useState<'form' | 'json'>('form')
  const [refusals, setRefusals] = useState(0)
  const form = useRef<HTMLFormElement>(null)

  // Only at the beginning: the form also comes and goes while the JSON is being written.
  useEffect(() => form.current?.querySelector('input')?.focus(), [])

  // The first field that was refused, in whichever way is in use.
  useEffect(() => {
    if (refusals === 0) return
    const bad = [...(form.current?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [])]
    bad.find((field) => field.offsetParent !== null)?.focus()
  }, [refusals])

  const { run, busy, error, problem } = useAction(async (sent: Json) => {
    try {
      await onSubmit(sent)
      setRefused(null)
    } catch (error) {
      setRefused({ sent, fields: fieldErrors(error) })
      setRefusals((count) => count + 1)
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
      <Ways shown={shown} onShow={setShown} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-4 lg:grid-cols-2">
        <div className={cx(shown !== 'form' && 'max-lg:hidden')}>
          {read.ok ? (
            <ManifestForm manifest={read.value} errors={errors} onChange={(next) => onChange(written(next))} />
          ) : (
            <Notice tone="warn" title="The JSON cannot be read">
              {read.message}, in line {placeOf(text, read.offset).line}. Mend it there, and the form is back.
            </Notice>
          )}
        </div>
        <div className={cx('min-w-0 lg:sticky lg:top-0', shown !== 'json' && 'max-lg:hidden')}>
          <JsonEditor text={text} onChange={onChange} read={read} errors={errors} />
        </div>
      </div>
      {count > 0 && (
        <p role="alert" className="text-bad-ink">
          {count === 1 ? 'One field needs another look' : `${count} fields need another look`}: nothing was saved.
        </p>
      )}
      {problem && Object.keys(fieldErrors(error)).length === 0 && (
        <Notice tone="bad" title="Nothing was saved">
          {problem}
        </Notice>
      )}
      <div className="flex flex-wrap gap-2 border-t pt-4">
        <Button type="submit" look="primary" busy={busy} disabled={!read.ok} command="manifest.submit">
          {action}
        </Button>
        {children}
      </div>
    </form>
  )
}

/** Where there is no room for both. */
const Ways = ({ shown, onShow }: { shown: 'form' | 'json'; onShow: (way: 'form' | 'json') => void }) => (
  <fieldset className="inline-flex gap-px rounded border bg-sunken p-0.5 lg:hidden">
    <legend className="sr-only">Write the manifest as</legend>
    {(['form', 'json'] as const).map((way) => (
      <button
        key={way}
        type="button"
        aria-pressed={shown === way}
        onClick={() => onShow(way)}
        className="rounded-sm px-3 py-1 text-ink-2 aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-card"
      >
        {way === 'form' ? 'Form' : 'JSON'}
      </button>
    ))}
  </fieldset>
)
