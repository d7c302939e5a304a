import type { ReactNode } from 'react'

/** A cell of the list. */
export const Cell = ({ className, children }: { className?: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the list; aria-activedescendant tells the row
  <div role="gridcell" className={className}>
    {children}
  </div>
)
