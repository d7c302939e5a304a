import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import { cx } from './class-names.ts'

interface Toast {
  id: number
  text: string
  tone: 'plain' | 'bad'
  action?: { label: string; run: () => void } | undefined
  undo?: (() => void) | undefined
}

let toasts: Toast[] = []
let count = 0
const listeners = new Set<() => void>()
const changed = (next: Toast[]) => {
  toasts = next
  for (const listener of listeners) listener()
}
const dismiss = (id: number) => changed(toasts.filter((toast) => toast.id !== id))

/** Says what happened at the edge of the screen; what can be undone, says so there. */
export function say(text: string, { tone = 'plain', ...offers }: Partial<Omit<Toast, 'id' | 'text'>> = {}) {
  const id = ++count
  changed([...toasts.slice(-2), { id, text, tone, ...offers }])
  setTimeout(() => dismiss(id), tone === 'bad' ? 10_000 : 6000)
}

/** For the key: what was undone is not offered again, so the next press undoes the one before. */
export function undoLatest() {
  const latest = toasts.findLast(({ undo }) => undo)
  if (!latest) return
  dismiss(latest.id)
  latest.undo?.()
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-60 flex flex-col items-end gap-2 sm:left-auto sm:w-96"
    >
      {shown.map(({ id, text, tone, undo, action = undo && { label: 'Undo', run: undo } }) => (
        <div
          key={id}
          role={tone === 'bad' ? 'alert' : undefined}
          className={cx(
            'pointer-events-auto flex w-full items-center gap-2 rounded-lg bg-raised py-2 pr-2 pl-3.5 shadow-pop animate-[pop-in_120ms_ease-out]',
            tone === 'bad' && 'border-l-3 border-bad',
          )}
        >
          <p className="min-w-0 flex-1">{text}</p>
          {action && (
            <button
              type="button"
              className="rounded px-2 py-1 font-semibold text-accent-ink hover:bg-hover"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton label="Dismiss" icon={X} onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  )
}
