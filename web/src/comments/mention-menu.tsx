import { useLayoutEffect, useRef } from 'react'
import type { Mentionable } from '../data/comments.ts'
import { Avatar } from '../ui/avatar.tsx'
import { cx } from '../ui/class-names.ts'

interface Props {
  id: string
  people: Mentionable[]
  at: number
  /** The menu opens next to this element. */
  anchor: HTMLElement | null
  onMove: (index: number) => void
  onPick: (person: Mentionable) => void
}

export const optionId = (id: string, person: Mentionable) => `${id}-${person.id}`

/** The people and agents that can be mentioned. Focus stays in the text. */
export function MentionMenu({ id, people, at, anchor, onMove, onPick }: Props) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height depends on the number of options
  useLayoutEffect(() => {
    const menu = ref.current
    if (!menu || !anchor) return
    if (!menu.matches(':popover-open')) menu.showPopover()
    const box = anchor.getBoundingClientRect()
    const under = box.bottom + 4
    const fits = under + menu.offsetHeight < innerHeight - 8
    menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`
    menu.style.top = `${fits ? under : Math.max(8, box.top - menu.offsetHeight - 4)}px`
  }, [anchor, people.length])
  return (
    <div
      ref={ref}
      id={id}
      popover="manual"
      role="listbox"
      aria-label="Mention"
      className="m-0 max-h-64 w-72 max-w-[calc(100vw-16px)] overflow-y-auto rounded-lg border-0 bg-raised p-1 text-ink shadow-pop"
    >
      {people.map((person, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text; aria-activedescendant marks the active option
        <div
          key={person.id}
          id={optionId(id, person)}
          role="option"
          aria-selected={index === at}
          onPointerMove={() => onMove(index)}
          // Keeps focus in the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(person)}
          className={cx('flex min-h-7 items-center gap-2 rounded px-2 py-1', index === at && 'bg-hover')}
        >
          <Avatar name={person.name} agent={person.isAgent} src={person.avatarUrl} size={16} />
          <span className={cx('min-w-0 flex-1 truncate', person.unreachable && 'text-ink-3')}>
            <bdi>{person.name}</bdi>
          </span>
          {person.isAgent && (
            <span className={cx('shrink-0 text-xs', person.unreachable ? 'text-ink-3' : 'text-agent-ink')}>
              {person.unreachable ?? (person.isPersonal ? 'personal, opens a session' : 'opens a session')}
            </span>
          )}
        </div>
      ))}
    </div>
  )
}
