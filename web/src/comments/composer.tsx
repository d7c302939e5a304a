import '../data/files.ts'
import { limits } from '@baton/protocol/limits'
import { Lock } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { type Mentionable, type Target, useMentionable } from '../data/comments.ts'
import { useAction } from '../ui/action.ts'
import { useAttachments } from '../ui/attach.tsx'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { Kbd } from '../ui/kbd.tsx'
import { closeComposer, openComposer, useIsComposerOpen } from '../ui/open-composer.ts'
import { type NamedUser, namedIn, toStored } from './mentions.ts'
import { type Draft, useMention } from './use-mention.tsx'

/** Unsent text by `draftKey`, kept while the app is open. */
const drafts = new Map<string, Draft>()

interface Props {
  target: Target
  /** Identifies the unsent text, which is kept when the composer is closed. */
  draftKey: string
  label: string
  placeholder?: string
  action: string
  initial?: Draft
  /** Internal comments are hidden from agents. */
  internal: boolean
  onInternal?: ((internal: boolean) => void) | undefined
  autoFocus?: boolean
  onCancel?: () => void
  /** Receives the text in its stored form. If it throws, the error is shown and the text is kept. */
  onSend: (text: string) => Promise<unknown>
}

/** Editor for a comment, with mentions. */
export function Composer(props: Props) {
  const { target, draftKey, label, action, internal, onCancel, onSend } = props
  const [draft, setDraft] = useState<Draft>(() => drafts.get(draftKey) ?? props.initial ?? { text: '', named: [] })
  const [isUsed, setIsUsed] = useState(Boolean(props.autoFocus))
  const people = useMentionable(target, { internal, enabled: isUsed })
  const ref = useRef<HTMLTextAreaElement>(null)
  const change = (next: Draft) => {
    drafts.set(draftKey, next)
    setDraft(next)
  }
  const isOpen = useIsComposerOpen(draftKey)
  const mention = useMention({ ref, draft, change, people })

  const attachments = useAttachments(ref, (text) => change({ ...draft, text }))

  useEffect(() => () => closeComposer(draftKey), [draftKey])
  useEffect(() => {
    if (!props.autoFocus) return
    openComposer(draftKey)
    ref.current?.focus()
    ref.current?.setSelectionRange(ref.current.value.length, ref.current.value.length)
  }, [props.autoFocus, draftKey])

  const { run, busy, problem } = useAction(async (text: string) => {
    await onSend(text)
    drafts.delete(draftKey)
    setDraft({ text: '', named: [] })
  })
  const send = () => {
    const text = toStored(draft.text, draft.named).trim()
    if (text && !attachments.busy) void run(text)
  }
  const cancel = () => {
    drafts.delete(draftKey)
    onCancel?.()
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || mention.pressed(event)) return
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send()
    // Escape keeps the draft; only Cancel discards it.
    else if (event.key === 'Escape') (onCancel ?? (() => ref.current?.blur()))()
    else return
    event.preventDefault()
  }
  return (
    <div
      className={cx(
        'rounded-lg border bg-surface focus-within:border-accent',
        internal ? 'border-dashed border-line-strong' : 'border-line-strong',
      )}
    >
      <textarea
        ref={ref}
        rows={1}
        aria-label={label}
        aria-autocomplete="list"
        {...mention.aria}
        placeholder={props.placeholder}
        value={draft.text}
        maxLength={limits.comment}
        readOnly={busy}
        onFocus={() => {
          setIsUsed(true)
          openComposer(draftKey)
        }}
        onChange={(event) => change({ ...draft, text: event.target.value })}
        onSelect={mention.moved}
        onBlur={mention.close}
        onKeyDown={pressed}
        {...attachments.handlers}
        className="field-sizing-content max-h-96 min-h-9 w-full resize-none bg-transparent px-3 py-2 text-base outline-none placeholder:text-ink-3"
      />
      {mention.menu}
      {attachments.list}
      <MentionedAgents people={people} named={namedIn(draft.text, draft.named)} />
      {problem && (
        <p role="alert" className="px-3 pb-1 text-xs text-bad-ink">
          Not sent: {problem} Your text is still here.
        </p>
      )}
      {isOpen && (
        <div className="flex min-h-9 flex-wrap items-center gap-2 px-2 pb-2">
          {props.onInternal && (
            <button
              type="button"
              aria-pressed={internal}
              onClick={() => props.onInternal?.(!internal)}
              className={cx(
                'inline-flex h-6 items-center gap-1 rounded px-1.5 text-xs hover:bg-hover',
                internal ? 'bg-hover font-medium text-ink' : 'text-ink-3',
              )}
            >
              <Lock size={12} aria-hidden />
              {internal ? 'Internal: agents do not see this' : 'Internal'}
            </button>
          )}
          {attachments.button}
          <span className="flex-1" />
          {onCancel && (
            <Button size="sm" look="quiet" onClick={cancel}>
              Cancel
            </Button>
          )}
          <Button size="sm" look="primary" busy={busy} disabled={!draft.text.trim() || attachments.busy} onClick={send}>
            {action}
            <Kbd keys="mod+enter" inverted className="ml-1 max-md:hidden" />
          </Button>
        </div>
      )}
    </div>
  )
}

/** Explains what sending does for each mentioned agent. */
function MentionedAgents({ people, named }: { people: Mentionable[]; named: NamedUser[] }) {
  const agents = people.filter((person) => person.isAgent && named.some(({ id }) => id === person.id))
  return agents.map(({ id, name, unreachable }) => (
    <p key={id} className={cx('px-3 pb-1 text-xs', unreachable ? 'text-warn-ink' : 'text-agent-ink')}>
      {unreachable
        ? `${isolated(name)} will not be notified: ${unreachable}.`
        : `Sending opens a session with ${isolated(name)}, or continues the one here.`}
    </p>
  ))
}
