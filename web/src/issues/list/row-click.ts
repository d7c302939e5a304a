import type { Row } from '../fields/group-issues.ts'

export interface RowClick {
  anchor: Element
  shiftKey: boolean
  modKey: boolean
  double: boolean
}

export const rowId = (key: string) => `row-${key}`

/** The focus ring of the list while no row is current. */
export const ring = 'focus-visible:shadow-[inset_0_0_0_2px_color-mix(in_oklch,var(--accent)_45%,transparent)]'

type MouseLike = {
  target: EventTarget
  shiftKey: boolean
  metaKey: boolean
  ctrlKey: boolean
  preventDefault: () => void
}

interface Clickable {
  rows: readonly Row[]
  /** A row was clicked; `target` is the `data-do` of the clicked part. */
  onRowClick: (row: Row, target: string | undefined, event: RowClick) => void
}

/** One listener for all rows and cards. A click that opens a link in a new tab is left to the browser. */
export function handleRowClick(event: MouseLike, { rows, onRowClick }: Clickable, double = false) {
  if (!(event.target instanceof Element) || event.target.closest('input')) return
  const place = event.target.closest<HTMLElement>('[data-row]')
  const row = place && rows.find(({ key }) => key === place.dataset.row)
  if (!row) return
  const modKey = event.metaKey || event.ctrlKey
  const link = event.target.closest('a')
  if (modKey && link) return
  if (link) event.preventDefault()
  const part = event.target.closest<HTMLElement>('[data-do]')
  const target = part?.dataset.do ?? (link ? 'open' : undefined)
  onRowClick(row, target, { anchor: part ?? place, shiftKey: event.shiftKey, modKey, double })
}
