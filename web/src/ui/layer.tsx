import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { cx } from './class-names.ts'

interface Props {
  onClose: () => void
  /** Accessible name; or the id of the element that has it, as `labelledBy`. */
  label?: string
  labelledBy?: string
  describedBy?: string
  /** Opens next to this element; if undefined, the class sets the position. */
  anchor?: Element | null | undefined
  align?: 'start' | 'end'
  className?: string
  children: ReactNode
}

/**
 * A native modal dialog: it keeps the focus inside, restores it afterwards and closes with Escape. Dialogs, menus and
 * pickers are built on it.
 */
export const Layer = ({ open, ...layer }: Props & { open: boolean }) => (open ? <OpenLayer {...layer} /> : null)

function OpenLayer({ onClose, label, labelledBy, describedBy, anchor, align = 'start', className, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const anchored = anchor !== undefined
  const [shown, setShown] = useState(false)

  // The children render once the dialog is open: before that, autoFocus has no effect.
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    dialog.showModal()
    setShown(true)
    // close() restores the focus; removing the element does not.
    return () => dialog.close()
  }, [])

  useLayoutEffect(() => {
    const dialog = ref.current
    // Without scrolling: a long dialog starts with its text, even if the first input is below it.
    if (shown && dialog && document.activeElement === dialog) firstFocusable(dialog)?.focus({ preventScroll: true })
  }, [shown])

  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog || !shown || !anchored) return
    const update = () => place(dialog, anchor ?? null, align)
    update()
    const observer = new ResizeObserver(update)
    observer.observe(dialog)
    addEventListener('resize', update)
    return () => {
      observer.disconnect()
      removeEventListener('resize', update)
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
      // Clicks on the backdrop have the dialog as their target.
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

/** The first input, else the first button or link; the Close button last. */
const firstFocusable = (dialog: HTMLElement) =>
  dialog.querySelector<HTMLElement>('input:enabled, textarea:enabled, select:enabled') ??
  dialog.querySelector<HTMLElement>('button:enabled:not([aria-label="Close"]), a[href]') ??
  dialog.querySelector<HTMLElement>('button:enabled')

const isOutside = ({ clientX, clientY }: { clientX: number; clientY: number }, element: Element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

const gap = 4
const margin = 8

/** Below the anchor if there is room, else above it; always inside the window. */
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
