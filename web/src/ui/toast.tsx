import { X } from 'lucide-react'
import { IconButton } from './button.tsx'
import { cx } from './class-names.ts'
import { messageOf } from './problem.ts'
import { createStore, useStore } from './store.ts'

interface Toast {
  id: number
  text: string
  tone: 'plain' | 'bad'
  action?: { label: string; run: () => void } | undefined
  /** A page of the app. */
  link?: { label: string; href: string } | undefined
  undo?: (() => void) | undefined
}

export const toasts = createStore<Toast[]>([])
let count = 0
const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Shows a message at the edge of the screen, with an action or Undo if there is one. At most three are shown. */
export function showToast(text: string, { tone = 'plain', ...offers }: Partial<Omit<Toast, 'id' | 'text'>> = {}) {
  const id = ++count
  toasts.set([...toasts.get().slice(-2), { id, text, tone, ...offers }])
  setTimeout(() => dismiss(id), tone === 'bad' ? 10_000 : 6000)
}

/** Shows why a request failed. */
export const showError = (error: unknown) => showToast(messageOf(error), { tone: 'bad' })

/** Runs the newest Undo that is shown and dismisses it, so that the next call undoes the previous change. */
export function undoLatest() {
  const latest = toasts.get().findLast(({ undo }) => undo)
  if (!latest) return
  dismiss(latest.id)
  latest.undo?.()
}

const offer = 'rounded px-2 py-1 font-semibold text-accent-ink hover:bg-hover'

/** `onOpen` opens a page of the app without a page load: messages are rendered outside the router. */
export function Toasts({ onOpen }: { onOpen: (href: string) => void }) {
  const shown = useStore(toasts)
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      // Never over the Send button of a session: below the header on narrow screens, over the aside on wide ones.
      className="pointer-events-none fixed inset-x-3 bottom-[calc(0.75rem+var(--above-tour,0px))] z-60 flex flex-col items-end gap-2 max-lg:top-14 sm:left-auto sm:w-80"
    >
      {shown.map(({ id, text, tone, link, undo, action = undo && { label: 'Undo', run: undo } }) => (
        <div
          key={id}
          role={tone === 'bad' ? 'alert' : undefined}
          className={cx(
            'pointer-events-auto flex w-full items-center gap-2 rounded-lg bg-raised py-2 pr-2 pl-3.5 shadow-pop animate-[pop-in_120ms_ease-out]',
            tone === 'bad' && 'border-l-3 border-bad',
          )}
        >
          <p className="min-w-0 flex-1">{text}</p>
          {link && (
            <a
              href={link.href}
              className={cx('shrink-0', offer)}
              onClick={(event) => {
                dismiss(id)
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                onOpen(link.href)
              }}
            >
              {link.label}
            </a>
          )}
          {action && (
            <button
              type="button"
              className={offer}
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
