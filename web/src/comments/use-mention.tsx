import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Mentionable } from '../data/comments.ts'
import { fold } from '../ui/fold.ts'
import { MentionMenu, optionId } from './mention-menu.tsx'
import { mentionAt, type NamedUser } from './mentions.ts'

/** Text being edited, with the users that its names mention. */
export interface Draft {
  text: string
  named: NamedUser[]
}

interface Options {
  ref: RefObject<HTMLTextAreaElement | null>
  draft: Draft
  change: (draft: Draft) => void
  people: Mentionable[]
}

/** Completes a name after an @. */
export function useMention({ ref, draft, change, people }: Options) {
  const id = useId()
  const [caret, setCaret] = useState<number | null>(null)
  const [at, setAt] = useState(0)
  /** Position of an @ for which the menu was closed with Escape. */
  const [dismissed, setDismissed] = useState<number | null>(null)
  const mention = caret === null ? null : mentionAt(draft.text, caret, draft.named, people)
  const wanted = fold(mention?.query ?? '')
  const found =
    mention && mention.at !== dismissed ? people.filter(({ name }) => matches(name, wanted)).slice(0, 8) : []
  const active = found[Math.min(at, found.length - 1)]

  const pick = (person: Mentionable) => {
    if (!mention) return
    const others = draft.named.filter(({ id }) => id !== person.id)
    // A second user with the same name is inserted in the stored form, which has the id.
    const isSecond = others.some(({ name }) => name === person.name)
    const inserted = isSecond ? `@[${person.name}](${person.id}) ` : `@${person.name} `
    const end = mention.at + inserted.length
    // Synchronously, so that the next typed letter comes after the name.
    flushSync(() =>
      change({
        text: draft.text.slice(0, mention.at) + inserted + draft.text.slice(mention.at + 1 + mention.query.length),
        named: isSecond ? draft.named : [...others, { id: person.id, name: person.name }],
      }),
    )
    ref.current?.setSelectionRange(end, end)
    setCaret(null)
  }
  const pressed = (event: KeyboardEvent) => {
    if (!active || event.metaKey || event.ctrlKey) return false
    const moves: Record<string, () => void> = {
      ArrowDown: () => setAt((at + 1) % found.length),
      ArrowUp: () => setAt((at - 1 + found.length) % found.length),
      Enter: () => pick(active),
      Tab: () => pick(active),
      Escape: () => setDismissed(mention?.at ?? null),
    }
    const move = moves[event.key]
    if (!move) return false
    event.preventDefault()
    move()
    return true
  }
  return {
    pressed,
    moved: () => {
      const area = ref.current
      setCaret(area && area.selectionStart === area.selectionEnd ? area.selectionStart : null)
      setAt(0)
    },
    close: () => setCaret(null),
    aria: active ? { 'aria-controls': id, 'aria-activedescendant': optionId(id, active) } : {},
    menu: active && (
      <MentionMenu
        id={id}
        people={found}
        at={found.indexOf(active)}
        anchor={ref.current}
        onMove={setAt}
        onPick={pick}
      />
    ),
  }
}

const matches = (name: string, wanted: string) => ` ${fold(name)}`.includes(` ${wanted}`)
