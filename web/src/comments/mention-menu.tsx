import { useLayoutEffect, useRef } from 'react'
import type { Somebody } from '../data/comments.ts'
import { Avatar } from '../ui/avatar.tsx'
import { cx } from '../ui/class-names.ts'

interface Props {
  id: string
  people: Somebody[]
  at: number
  /** Stands beside this. */
  anchor: HTMLElement | null
  onMove: (index: number) => void
  onPick: (somebody: Somebody) => void
}

export const optionId = (id: string, somebody: Somebody) => `${id}-${somebody.id}`

/** Who can be mentioned. The focus stays in the text. */
export function MentionMenu({ id, people, at, anchor, onMove, onPick }: Props) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height depends on how many there are
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
      {people.map((somebody, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text; aria-activedescendant tells where it is
        <div
          key={somebody.id}
          id={optionId(id, somebody)}
          role="option"
          aria-selected={index === at}
          onPointerMove={() => onMove(index)}
          // The text keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(somebody)}
          className={cx('flex min-h-7 items-center gap-2 rounded px-2 py-1', index === at && 'bg-hover')}
        >
          <Avatar name={somebody.name} agent={somebody.isAgent} src={somebody.avatarUrl} size={16} />
          <span className={cx('min-w-0 flex-1 truncate', somebody.why && 'text-ink-3')}>{somebody.name}</span>
          {somebody.isAgent && (
            <span className={cx('shrink-0 text-xs', somebody.why ? 'text-ink-3' : 'text-agent-ink')}>
              {somebody.why ?? (somebody.isYours ? 'yours, opens a session' : 'opens a session')}
            </span>
          )}
        </div>
      ))}
    </div>
  )
}
