import { limits } from '@baton/protocol/limits'
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react'
import { useAttachments } from './attach.tsx'
import { Button } from './button.tsx'
import { Kbd } from './kbd.tsx'
import { Markdown } from './markdown.tsx'
import { type Command, useCommands } from './shortcuts.ts'
import { EditConflict } from './states.tsx'
import { showToast } from './toast.tsx'

interface Props {
  /** Section of the commands. */
  of: Command['section']
  id: string
  text: string
  /** Resolves to whether it was saved; shows the error itself if not. */
  onSave: (text: string) => Promise<boolean>
}

/** A title edited in place. Changes of others are not shown while it has focus. */
export function TitleInPlace({ of, text, onSave }: Omit<Props, 'id'>) {
  const [draft, setDraft] = useState<string | null>(null)
  const ref = useRef<HTMLTextAreaElement>(null)
  const isCancelled = useRef(false)
  useCommands([
    { id: `${of.toLowerCase()}.rename`, title: 'Rename', section: of, keys: 'r', run: () => ref.current?.select() },
  ])

  const save = () => {
    const title = draft?.replace(/\s+/g, ' ').trim()
    setDraft(null)
    if (!isCancelled.current && title && title !== text) void onSave(title)
    isCancelled.current = false
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    isCancelled.current = event.key === 'Escape'
    ref.current?.blur()
  }
  return (
    <textarea
      ref={ref}
      rows={1}
      aria-label="Title"
      maxLength={limits.title}
      value={draft ?? text}
      onFocus={() => setDraft(text)}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={save}
      onKeyDown={pressed}
      className="-mx-2 block field-sizing-content w-[calc(100%+16px)] resize-none rounded bg-transparent px-2 py-1 text-xl font-semibold hover:bg-hover/50 focus:bg-surface focus:outline-1 focus:outline-accent"
    />
  )
}

/** Unsaved descriptions by id, kept while the app is open. `base` is the saved text when editing started. */
const drafts = new Map<string, { text: string; base: string }>()

/** A description: rendered as Markdown, edited as source. */
export function DescriptionInPlace({ of, id, text, onSave }: Props) {
  const [draft, setDraft] = useState(() => drafts.get(id) ?? null)
  const edit = () => setDraft(drafts.get(id) ?? { text, base: text })
  const command = `${of.toLowerCase()}.description`
  useCommands([{ id: command, title: 'Edit description', section: of, keys: 'e', run: edit }])
  const change = (next: { text: string; base: string } | null) => {
    if (next) drafts.set(id, next)
    else drafts.delete(id)
    setDraft(next)
  }
  const leave = () => {
    if (draft && draft.text !== draft.base) showToast('Not saved. Your draft is kept.')
    else drafts.delete(id)
    setDraft(null)
  }
  if (draft) return <DescriptionEditor text={text} draft={draft} change={change} leave={leave} onSave={onSave} />

  const clicked = (event: MouseEvent<HTMLElement>) => {
    const onLink = event.target instanceof Element && event.target.closest('a')
    // Selecting text must not start editing.
    if (!onLink && getSelection()?.isCollapsed !== false) edit()
  }
  return (
    <section aria-label="Description" className="group/description relative -mx-2">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button next to it does the same by keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: so does the key E */}
      <div onClick={clicked} className="min-h-9 cursor-text rounded px-2 py-1 hover:bg-hover/50">
        {text ? <Markdown text={text} /> : <p className="text-ink-3">Add a description…</p>}
      </div>
      <Button
        size="sm"
        onClick={edit}
        command={command}
        className="absolute top-1 right-1 opacity-0 group-hover/description:opacity-100 focus-visible:opacity-100 max-md:group-hover/description:opacity-0"
      >
        Edit description
      </Button>
    </section>
  )
}

interface EditorProps extends Pick<Props, 'text' | 'onSave'> {
  draft: { text: string; base: string }
  change: (draft: { text: string; base: string } | null) => void
  /** Closes the editor and keeps the draft. */
  leave: () => void
}

function DescriptionEditor({ text, draft, change, leave, onSave }: EditorProps) {
  const ref = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    ref.current?.focus({ preventScroll: true })
  }, [])
  const attachments = useAttachments(ref, (next) => change({ ...draft, text: next }))
  const save = async () => {
    if (attachments.busy) return
    change(null)
    // If saving fails, the editor opens again with the draft.
    if (draft.text !== text && !(await onSave(draft.text))) change(draft)
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void save()
    else if (event.key === 'Escape') leave()
    else return
    event.preventDefault()
  }
  return (
    <section aria-label="Description" className="space-y-2">
      <textarea
        ref={ref}
        aria-label="Description"
        value={draft.text}
        maxLength={limits.description}
        onChange={(event) => change({ ...draft, text: event.target.value })}
        onKeyDown={pressed}
        {...attachments.handlers}
        className="field-sizing-content max-h-[60dvh] min-h-32 w-full resize-none rounded border border-line-strong bg-surface px-3 py-2 text-base focus:border-accent focus:outline-1 focus:outline-accent"
      />
      {attachments.list}
      {draft.base !== text && <EditConflict what="the description" onReset={() => change({ text, base: text })} />}
      <div className="flex items-center gap-2">
        <Button size="sm" look="primary" disabled={attachments.busy} onClick={() => void save()}>
          Save
          <Kbd keys="mod+enter" inverted className="ml-1 max-md:hidden" />
        </Button>
        <Button size="sm" look="quiet" onClick={() => change(null)}>
          Cancel
        </Button>
        {attachments.button}
        <span className="text-xs text-ink-3">Markdown</span>
      </div>
    </section>
  )
}
