import { type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import { messageOf } from './problem.ts'

/** Empty state: explains the screen and offers the first action with its shortcut. */
export const Empty = ({
  icon: Icon,
  title,
  heading: Heading = 'h2',
  children,
  action,
}: {
  icon?: LucideIcon
  title: string
  /** `h1` where it is the whole screen. */
  heading?: 'h1' | 'h2'
  children?: ReactNode
  action?: ReactNode
}) => (
  <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-16 text-center">
    {Icon && <Icon size={26} strokeWidth={1.5} aria-hidden className="mb-1 text-ink-3" />}
    <Heading className="text-lg font-semibold">{title}</Heading>
    {children && <div className="text-ink-2">{children}</div>}
    {action && <div className="mt-3">{action}</div>}
  </div>
)

/** Error state with a retry button. */
export const Failed = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => (
  <div role="alert" className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-16 text-center">
    <TriangleAlert size={24} strokeWidth={1.5} aria-hidden className="text-warn" />
    <h2 className="text-lg font-semibold">Could not load this</h2>
    <p className="text-ink-2">{messageOf(error)}</p>
    {onRetry && (
      <Button className="mt-3" onClick={onRetry}>
        Try again
      </Button>
    )}
  </div>
)

/** Placeholder rows while data loads. */
export const Skeletons = ({ rows = 6, className }: { rows?: number; className?: string }) => (
  <div aria-hidden className={cx('space-y-3 p-4', className)}>
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they have no other key
      <div key={index} className="flex items-center gap-3">
        <div className="skeleton size-4" />
        <div className="skeleton h-3.5" style={{ width: `${38 + ((index * 23) % 45)}%` }} />
      </div>
    ))}
  </div>
)

/** Warns that the edited text was changed by someone else. */
export const EditConflict = ({ what, onReset }: { what: string; onReset: () => void }) => (
  <Notice
    tone="warn"
    title={`Someone else changed ${what}`}
    actions={
      <Button size="sm" onClick={onReset}>
        Use their version
      </Button>
    }
  >
    Saving overwrites their changes.
  </Notice>
)

type NoticeTone = 'info' | 'warn' | 'bad' | 'ok'
const notices: Record<NoticeTone, string> = {
  info: 'bg-info-wash text-info-ink border-info/30',
  warn: 'bg-warn-wash text-warn-ink border-warn/40',
  bad: 'bg-bad-wash text-bad-ink border-bad/30',
  ok: 'bg-ok-wash text-ok-ink border-ok/30',
}
/** A message inside a screen or form. */
export const Notice = ({
  tone = 'info',
  title,
  children,
  actions,
}: {
  tone?: NoticeTone
  title?: ReactNode
  children?: ReactNode
  actions?: ReactNode
}) => (
  <div role={tone === 'bad' ? 'alert' : undefined} className={cx('rounded-lg border px-3.5 py-2.5', notices[tone])}>
    {title && <p className="font-semibold">{title}</p>}
    {children && <div className="text-ink">{children}</div>}
    {actions && <div className="mt-2 flex flex-wrap gap-2">{actions}</div>}
  </div>
)
