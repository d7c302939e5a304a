import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

/** Breadcrumbs for the title of a page. A narrow screen shows only the nearest parent. */
export const Crumbs = ({ above, children }: { above: ReactNode[]; children: ReactNode }) => (
  <span className="flex min-w-0 items-center gap-1.5 [&_a]:font-normal [&_a]:text-ink-2 [&_a:hover]:text-ink [&_a:hover]:underline">
    {above.map((parent, index) => (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: the parents of a screen do not change order
        key={index}
        className={cx('flex min-w-0 shrink items-center gap-1.5', index < above.length - 1 && 'max-sm:hidden')}
      >
        <span className="min-w-0 truncate">{parent}</span>
        <span aria-hidden className="text-ink-3">
          /
        </span>
      </span>
    ))}
    <span className="min-w-0 truncate">{children}</span>
  </span>
)
