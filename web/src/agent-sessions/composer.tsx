import '../data/files.ts'
import type { AgentActivity, AgentSession } from '@baton/protocol'
import { SendHorizontal } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useAttachments } from '../ui/attach.tsx'
import { Button } from '../ui/button.tsx'
import { Textarea } from '../ui/field.tsx'
import { isolated } from '../ui/isolated.ts'
import { openComposer } from '../ui/open-composer.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { createStore, useStore } from '../ui/store.ts'
import { choicesOf } from './conversation.ts'
import { mayTakeFocus } from './focus.ts'
import { useSend } from './send.ts'

/** Unsent text by session, kept while the app is open. */
const drafts = createStore<ReadonlyMap<string, string>>(new Map())

function setDraft(sessionId: string, text: string) {
  const next = new Map(drafts.get())
  if (text) next.set(sessionId, text)
  else next.delete(sessionId)
  drafts.set(next)
}

/** Adds the text to the unsent message, as a word of its own. */
export function addToDraft(sessionId: string, text: string) {
  const before = drafts.get().get(sessionId) ?? ''
  setDraft(sessionId, `${before}${before === '' || /\s$/.test(before) ? '' : ' '}${text} `)
}

/** Sends messages to the agent, or the answer to its question. */
export function Composer(props: { session: AgentSession; question: AgentActivity | null; agent: string }) {
  const { session, question, agent } = props
  const { send, busy, problem } = useSend(session)
  const text = useStore(drafts, (all) => all.get(session.id) ?? '')
  const type = (next: string) => setDraft(session.id, next)
  const [focused, setFocused] = useState(false)
  const box = useRef<HTMLTextAreaElement>(null)
  const restarts = /^(complete|error|stale)$/.test(session.state)
  const asked = question && !choicesOf(question) ? question.id : null
  useEffect(() => {
    if (asked && mayTakeFocus(box.current)) box.current?.focus({ preventScroll: true })
  }, [asked])
  const attachments = useAttachments(box, type)
  const submit = async () => {
    const body = text.trim()
    if (!body || busy || attachments.busy) return
    if (await send(body)) type('')
    box.current?.focus({ preventScroll: true })
  }
  useCommands(
    focused
      ? [
          {
            id: 'session.send',
            title: `Send to ${isolated(agent)}`,
            section: 'Agent session',
            keys: 'mod+enter',
            evenWhileTyping: true,
            run: () => void submit(),
          },
        ]
      : [],
  )
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') box.current?.blur()
    // Shift+Enter starts a new line; the command handles Ctrl+Enter.
    if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    void submit()
  }
  return (
    <form
      className="space-y-1"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div className="flex items-end gap-2">
        <Textarea
          ref={box}
          rows={1}
          value={text}
          readOnly={busy}
          aria-label={question ? `Your answer to ${isolated(agent)}` : `Message to ${isolated(agent)}`}
          placeholder={placeholderOf(question, restarts, agent)}
          onChange={(event) => type(event.target.value)}
          onKeyDown={pressed}
          enterKeyHint="send"
          onFocus={() => {
            setFocused(true)
            openComposer(`session ${session.id}`)
          }}
          onBlur={() => setFocused(false)}
          {...attachments.handlers}
          className="max-h-48 min-h-8 resize-none"
        />
        {attachments.button}
        <Button
          type="submit"
          look={question ? 'primary' : 'plain'}
          icon={SendHorizontal}
          busy={busy}
          disabled={!text.trim() || attachments.busy}
          {...(focused && { command: 'session.send' })}
        >
          Send
        </Button>
      </div>
      {attachments.list}
      {problem ? (
        <p role="alert" className="text-xs text-bad-ink">
          Not sent. {problem}
        </p>
      ) : (
        restarts && <p className="text-xs text-ink-3">Sending restarts the session.</p>
      )}
    </form>
  )
}

function placeholderOf(question: AgentActivity | null, restarts: boolean, agent: string) {
  if (question) return choicesOf(question) ? 'Or answer in your own words…' : 'Your answer…'
  return restarts ? `Ask ${isolated(agent)} for more…` : `Write to ${isolated(agent)}…`
}
