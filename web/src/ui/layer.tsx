import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { cx } from './class-names.ts'

interface Props {
  onClose: () => void
  /** Its name for those who cannot see it, or the id of what says it. */
  label?: string
  labelledBy?: string
  describedBy?: string
  /** Stands beside this; without one, wherever its class says. */
  anchor?: Element | null | undefined
  align?: 'start' | 'end'
  className?: string
  children: ReactNode
}

/**
 * Something over the screen that has the keyboard to itself until it is closed: the platform's own modal dialog, which
 * keeps the focus inside, gives it back afterwards and closes with Escape. Dialogs, menus and pickers are made of it.
 */
export const Layer = ({ open, ...layer }: Props & { open: boolean }) => (open ? <OpenLayer {...layer} /> : null)

function OpenLayer({ onClose, label, labelledBy, describedBy, anchor, align = 'start', className, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const anchored = anchor !== undefined
  const [shown, setShown] = useState(false)

  // What is inside comes once the dialog is open: before that nothing in it could take the focus.
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    dialog.showModal()
    setShown(true)
    // Only what is closed, and not what is taken away, gives the focus back.
    return () => dialog.close()
  }, [])

  useLayoutEffect(() => {
    const dialog = ref.current
    if (shown && dialog && document.activeElement === dialog) firstPlace(dialog)?.focus()
  }, [shown])

  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog || !shown || !anchored) return
    const settle = () => place(dialog, anchor ?? null, align)
    settle()
    const observer = new ResizeObserver(settle)
    observer.observe(dialog)
    addEventListener('resize', settle)
    return () => {
      observer.disconnect()
      removeEventListener('resize', settle)
    }
  }, [shown, anchor, anchored, align])

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={ref}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // What lies behind it belongs to it too.
      onClick={(event) => event.target === event.currentTarget && isOutside(event, event.currentTarget) && onClose()}
      className={cx(
        'm-0 overflow-hidden rounded-lg bg-raised p-0 text-ink shadow-pop outline-none',
        anchored ? 'backdrop:bg-transparent' : 'backdrop:bg-black/35',
        className,
      )}
    >
      {shown && children}
    </dialog>
  )
}

/** Where one types, else what can be pressed; the cross in the corner last. */
const firstPlace = (dialog: HTMLElement) =>
  dialog.querySelector<HTMLElement>('input:enabled, textarea:enabled, select:enabled') ??
  dialog.querySelector<HTMLElement>('button:enabled:not([aria-label="Close"]), a[href]') ??
  dialog.querySelector<HTMLElement>('button:enabled')

const isOutside = ({ clientX, clientY }: { clientX: number; clientY: number }, element: Element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

const gap = 4
const margin = 8

/** Under the anchor if there is room, else above it; never past the edge of the window. */
function place(popup: HTMLElement, anchor: Element | null, align: 'start' | 'end') {
  const { offsetWidth: width, offsetHeight: height } = popup
  const box = anchor?.isConnected
    ? anchor.getBoundingClientRect()
    : new DOMRect(innerWidth / 2 - width / 2, innerHeight / 5, width, 0)
  const under = box.bottom + gap
  const above = box.top - gap - height
  const top = under + height > innerHeight - margin && above >= margin ? above : under
  const left = align === 'start' ? box.left : box.right - width
  popup.style.top = `${Math.max(margin, Math.min(top, innerHeight - height - margin))}px`
  popup.style.left = `${Math.max(margin, Math.min(left, innerWidth - width - margin))}px`
}
