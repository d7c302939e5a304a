import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cx } from './class-names.ts'
import { Kbd } from './kbd.tsx'
import { useKeysOf } from './shortcuts.ts'
import { Tip } from './tip.tsx'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

const looks: Record<Look, string> = {
  primary: 'bg-ink text-on-ink hover:bg-ink-2 border border-transparent',
  plain: 'bg-surface text-ink border border-line-strong hover:bg-hover',
  quiet: 'text-ink-2 hover:bg-hover hover:text-ink border border-transparent',
  danger: 'bg-bad-ink text-on-ink hover:opacity-90 border border-transparent',
}

const sizes = { sm: 'h-6 px-2 text-xs gap-1', md: 'h-8 px-3 text-sm gap-1.5' }

export const buttonClass = (look: Look = 'plain', size: keyof typeof sizes = 'md') =>
  cx(
    'inline-flex shrink-0 items-center justify-center rounded font-medium whitespace-nowrap select-none',
    'disabled:opacity-50 aria-disabled:opacity-50 transition-colors duration-75',
    looks[look],
    sizes[size],
  )

interface Props extends Omit<ComponentProps<'button'>, 'size'> {
  look?: Look
  size?: keyof typeof sizes
  icon?: LucideIcon
  /** A request is running: disables the button and sets aria-busy. */
  busy?: boolean
  /** Shows the keys of this command next to the text. */
  command?: string
}

export function Button({ look, size = 'md', icon: Icon, busy, command, children, className, ...rest }: Props) {
  const keys = useKeysOf(command)
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={cx(buttonClass(look, size), className)}
    >
      {Icon && <Icon size={14} aria-hidden className={busy ? 'animate-pulse' : undefined} />}
      {children}
      {keys && <Kbd keys={keys} className="ml-1 max-md:hidden" />}
    </button>
  )
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** Shown in the tooltip and read by screen readers. */
  label: string
  icon: LucideIcon
  command?: string
  active?: boolean
}

export function IconButton({ label, icon: Icon, command, active, className, ...rest }: IconButtonProps) {
  return (
    <Tip label={label} command={command}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={cx(
          'inline-flex size-7 shrink-0 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink disabled:opacity-50',
          active && 'bg-hover text-ink',
          className,
        )}
      >
        <Icon size={15} aria-hidden />
      </button>
    </Tip>
  )
}
