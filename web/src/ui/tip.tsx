import { cloneElement, type ReactElement, type ReactNode, useId, useRef, useState } from 'react'
import { Kbd } from './kbd.tsx'
import { useKeysOf } from './shortcuts.ts'

interface Props {
  label: ReactNode
  /** Also shows the keys of this command. */
  command?: string | undefined
  children: ReactElement<Record<string, unknown>>
}

const delayMs = 450

/** A tooltip for an element that is hovered or focused. */
export function Tip({ label, command, children }: Props) {
  const keys = useKeysOf(command)
  const id = useId()
  const [shown, setShown] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = (target: EventTarget | null) => {
    if (!(target instanceof Element)) return
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setShown(true)
      requestAnimationFrame(() => {
        const tip = document.getElementById(id)
        if (!tip || !target.isConnected) return
        tip.showPopover()
        const box = target.getBoundingClientRect()
        const above = box.top - tip.offsetHeight - 6
        tip.style.top = `${above < 4 ? box.bottom + 6 : above}px`
        const centred = box.left + box.width / 2 - tip.offsetWidth / 2
        tip.style.left = `${Math.max(4, Math.min(centred, innerWidth - tip.offsetWidth - 4))}px`
      })
    }, delayMs)
  }
  const hide = () => {
    clearTimeout(timer.current)
    setShown(false)
  }
  const own = children.props
  const both =
    (name: string, work: (event: { currentTarget: EventTarget }) => void) =>
    (event: { currentTarget: EventTarget }) => {
      if (typeof own[name] === 'function') own[name](event)
      work(event)
    }
  return (
    <>
      {cloneElement(children, {
        'aria-describedby': shown ? id : undefined,
        onPointerEnter: both('onPointerEnter', (event) => show(event.currentTarget)),
        onPointerLeave: both('onPointerLeave', hide),
        onFocus: both(
          'onFocus',
          ({ currentTarget }) => (currentTarget as Element).matches(':focus-visible') && show(currentTarget),
        ),
        onBlur: both('onBlur', hide),
        onPointerDown: both('onPointerDown', hide),
      })}
      {shown && (
        <span
          id={id}
          role="tooltip"
          popover="manual"
          className="pointer-events-none m-0 max-w-72 items-center gap-2 rounded border-0 bg-ink px-2 py-1 text-xs text-on-ink shadow-pop open:inline-flex"
        >
          {label}
          {keys && <Kbd keys={keys} inverted />}
        </span>
      )}
    </>
  )
}
