import { X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useAction } from './action.ts'
import { Button, IconButton } from './button.tsx'
import { cx } from './class-names.ts'
import { Field, Input } from './field.tsx'
import { Layer } from './layer.tsx'

interface Props {
  open: boolean
  onClose: () => void
  title: ReactNode
  /** One sentence under the title. */
  description?: ReactNode
  children?: ReactNode
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** Hides the title visually; screen readers still read it. */
  bare?: boolean
}

const widths = { sm: 'sm:w-[420px]', md: 'sm:w-[600px]', lg: 'sm:w-[860px]' }

export function Dialog({ open, onClose, title, description, children, footer, size = 'md', bare }: Props) {
  const id = useId()
  return (
    <Layer
      open={open}
      onClose={onClose}
      labelledBy={`${id}-title`}
      {...(description ? { describedBy: `${id}-description` } : {})}
      className={cx(
        'flex max-h-[86dvh] w-auto max-w-none flex-col animate-[pop-in_120ms_ease-out]',
        'fixed max-sm:inset-x-2 max-sm:top-auto max-sm:bottom-2 sm:top-[9vh] sm:mx-auto',
        widths[size],
      )}
    >
      <div className={cx('flex items-start gap-3 px-5 pt-4 pb-2', bare && 'sr-only')}>
        <div className="min-w-0 flex-1">
          <h2 id={`${id}-title`} className="text-lg font-semibold">
            {title}
          </h2>
          {description && (
            <p id={`${id}-description`} className="mt-1 text-ink-2">
              {description}
            </p>
          )}
        </div>
        {!bare && <IconButton label="Close" icon={X} onClick={onClose} />}
      </div>
      {children && (
        <div className={cx('min-h-0 flex-1 overflow-y-auto', !bare && 'px-5 py-2')}>
          {children}
          {footer && <MoreBelow />}
        </div>
      )}
      {footer && <div className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{footer}</div>}
    </Layer>
  )
}

/** Fades the text that is cut off by the footer. At the end of the text it covers only its own space. */
const MoreBelow = () => <div aria-hidden className="more-below" />

interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
  /** Text of the button: a verb. */
  action: string
  /** Text to type first, for actions that cannot be undone. */
  typed?: string
  danger?: boolean
  /** Closes the dialog when it resolves; an error is shown in the dialog. */
  onConfirm: () => Promise<unknown>
}

export function Confirm({ open, onClose, title, children, action, typed, danger = true, onConfirm }: ConfirmProps) {
  const [text, setText] = useState('')
  const {
    run: confirm,
    busy,
    problem,
    reset,
  } = useAction(async () => {
    await onConfirm()
    close()
  })
  const close = () => {
    setText('')
    reset()
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={title} size="sm">
      <form
        className="space-y-3 pb-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (!typed || text === typed) void confirm()
        }}
      >
        <div className="space-y-2 text-ink-2">{children}</div>
        {typed && (
          <Field label={`Type ${typed} to confirm`}>
            <Input value={text} onChange={(event) => setText(event.target.value)} autoComplete="off" autoFocus />
          </Field>
        )}
        {problem && (
          <p role="alert" className="text-bad-ink">
            {problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            look={danger ? 'danger' : 'primary'}
            busy={busy}
            disabled={typed !== undefined && text !== typed}
            autoFocus={!typed}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
