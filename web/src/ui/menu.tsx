import type { LucideIcon } from 'lucide-react'
import { cloneElement, type KeyboardEvent, type ReactElement, type ReactNode, useState } from 'react'
import { cx } from './class-names.ts'
import { Kbd } from './kbd.tsx'
import { Layer } from './layer.tsx'

export interface MenuItem {
  label: ReactNode
  icon?: LucideIcon | undefined
  keys?: string
  danger?: boolean
  disabled?: boolean
  onPick: () => void
}

interface Props {
  trigger: ReactElement<Record<string, unknown>>
  /** `null` is a separator. */
  items: (MenuItem | null)[]
  label?: string
  align?: 'start' | 'end'
}

/** A button that opens a menu of actions. */
export function Menu({ trigger, items, label = 'Actions', align = 'end' }: Props) {
  const [anchor, setAnchor] = useState<Element | null>(null)
  const close = () => setAnchor(null)
  return (
    <>
      {cloneElement(trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': anchor !== null,
        onClick: (event: { currentTarget: Element }) => setAnchor(event.currentTarget),
      })}
      <Layer
        open={anchor !== null}
        onClose={close}
        anchor={anchor}
        align={align}
        label={label}
        className="animate-[pop-in_90ms_ease-out]"
      >
        <div role="menu" aria-label={label} onKeyDown={move} className="min-w-48 p-1">
          {items.map((item, index) =>
            item ? (
              <button
                // biome-ignore lint/suspicious/noArrayIndexKey: the items of a menu do not change order
                key={index}
                type="button"
                role="menuitem"
                disabled={item.disabled}
                onPointerMove={(event) => event.currentTarget.focus()}
                onClick={() => {
                  close()
                  item.onPick()
                }}
                className={cx(
                  'flex h-7 w-full items-center gap-2 rounded px-2 text-left outline-none focus:bg-hover disabled:opacity-50',
                  item.danger && 'text-bad-ink',
                )}
              >
                {item.icon && <item.icon size={14} aria-hidden className="text-ink-3" />}
                <span className="flex-1">{item.label}</span>
                {item.keys && <Kbd keys={item.keys} />}
              </button>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <hr key={index} className="my-1" />
            ),
          )}
        </div>
      </Layer>
    </>
  )
}

/** Arrow keys move; a letter moves to the first item that starts with it. */
function move(event: KeyboardEvent<HTMLElement>) {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const targets: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
    Tab: (at + (event.shiftKey ? -1 : 1) + items.length) % items.length,
  }
  const letter = event.key.length === 1 && !event.ctrlKey && !event.metaKey ? event.key.toLowerCase() : null
  const target =
    targets[event.key] ??
    (letter ? items.findIndex((item) => item.textContent?.trim().toLowerCase().startsWith(letter)) : undefined)
  if (target === undefined || target < 0) return
  event.preventDefault()
  items[target]?.focus()
}
