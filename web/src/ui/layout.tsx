import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

/** A screen with a fixed header and scrolling content. */
export function Page({
  title,
  actions,
  below,
  children,
  width = 'full',
}: {
  title: ReactNode
  actions?: ReactNode
  /** A second line under the title, such as filters or tabs. */
  below?: ReactNode
  children: ReactNode
  /** `reading` limits the line length. */
  width?: 'full' | 'reading'
}) {
  return (
    <div className="flex h-full min-w-0 flex-col">
      <header className="shrink-0 border-b bg-canvas">
        <div className="flex h-12 items-center gap-2 px-4 max-md:not-in-data-settings:pl-13">
          <h1 className="min-w-0 flex-1 truncate text-base font-semibold">{title}</h1>
          {actions}
        </div>
        {below}
      </header>
      {/* `relative` contains the absolutely positioned sr-only elements, which would make the window scroll. */}
      <div className="relative min-h-0 flex-1 overflow-y-auto">
        {width === 'reading' ? (
          <div className="mx-auto max-w-3xl space-y-6 px-4 py-6 sm:px-6">{children}</div>
        ) : (
          children
        )}
      </div>
    </div>
  )
}

/** A titled part of a screen. */
export const Section = ({
  title,
  hint,
  actions,
  children,
  className,
}: {
  title: ReactNode
  hint?: ReactNode
  actions?: ReactNode
  children: ReactNode
  className?: string
}) => (
  <section className={cx('space-y-3', className)}>
    <div className={cx('flex gap-3', hint ? 'items-end' : 'items-center')}>
      <div className="min-w-0 flex-1">
        <h2 className="text-base font-semibold">{title}</h2>
        {hint && <p className="text-ink-2">{hint}</p>}
      </div>
      {actions}
    </div>
    {children}
  </section>
)

export const Card = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div className={cx('rounded-lg border bg-surface shadow-card', className)}>{children}</div>
)

/** A list of rows with the look of a card. */
export const Rows = ({ children, label }: { children: ReactNode; label?: string }) => (
  <ul aria-label={label} className="divide-y rounded-lg border bg-surface shadow-card">
    {children}
  </ul>
)
