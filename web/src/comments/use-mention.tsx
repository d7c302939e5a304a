import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Somebody } from '../data/comments.ts'
import { MentionMenu, optionId } from './mention-menu.tsx'
import { beingNamed, type Named } from './mentions.ts'

/** A text as it is written, and whom the names in it stand for. */
export interface Draft {
  text: string
  named: Named[]
}

interface Writing {
  ref: RefObject<HTMLTextAreaElement | null>
  draft: Draft
  change: (draft: Draft) => void
  people: Somebody[]
}

/** Completing a name after an @. */
export function useMention({ ref, draft, change, people }: Writing) {
  const id = useId()
  const [caret, setCaret] = useState<number | null>(null)
  const [at, setAt] = useState(0)
  /** Where an @ stands that is meant as it is. */
  const [refused, setRefused] = useState<number | null>(null)
  const naming = caret === null ? null : beingNamed(draft.text, caret, draft.named, people)
  const wanted = naming?.query.toLowerCase() ?? ''
  const found = naming && naming.at !== refused ? people.filter(({ name }) => matches(name, wanted)).slice(0, 8) : []
  const active = found[Math.min(at, found.length - 1)]

  const pick = (somebody: Somebody) => {
    if (!naming) return
    const others = draft.named.filter(({ id }) => id !== somebody.id)
    // Another of the same name is written out, so that each stays who they are.
    const isSecond = others.some(({ name }) => name === somebody.name)
    const words = isSecond ? `@[${somebody.name}](${somebody.id}) ` : `@${somebody.name} `
    const end = naming.at + words.length
    // At once: the next letter belongs behind the name.
    flushSync(() =>
      change({
        text: draft.text.slice(0, naming.at) + words + draft.text.slice(naming.at + 1 + naming.query.length),
        named: isSecond ? draft.named : [...others, { id: somebody.id, name: somebody.name }],
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
      Escape: () => setRefused(naming?.at ?? null),
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

const matches = (name: string, wanted: string) =>
  name.toLowerCase().startsWith(wanted) || name.toLowerCase().includes(` ${wanted}`)
