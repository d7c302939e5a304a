import type { Row } from './rows.ts'

export interface PressEvent {
  anchor: Element
  shiftKey: boolean
  modKey: boolean
  double: boolean
}

export const rowId = (key: string) => `row-${key}`

/** Shows that the list has the keyboard before any row is current; from then on the row shows it. */
export const ring = 'focus-visible:shadow-[inset_0_0_0_2px_color-mix(in_oklch,var(--accent)_45%,transparent)]'

type MouseLike = {
  target: EventTarget
  shiftKey: boolean
  metaKey: boolean
  ctrlKey: boolean
  preventDefault: () => void
}

interface Pressable {
  rows: readonly Row[]
  /** Something in a row was pressed: what, if it has a name, and where. */
  onPress: (row: Row, what: string | undefined, event: PressEvent) => void
}

/** One listener for all rows and cards. A link that is to open elsewhere is left to the browser. */
export function pressed(event: MouseLike, { rows, onPress }: Pressable, double = false) {
  if (!(event.target instanceof Element) || event.target.closest('input')) return
  const place = event.target.closest<HTMLElement>('[data-row]')
  const row = place && rows.find(({ key }) => key === place.dataset.row)
  if (!row) return
  const modKey = event.metaKey || event.ctrlKey
  const link = event.target.closest('a')
  if (modKey && link) return
  if (link) event.preventDefault()
  const named = event.target.closest<HTMLElement>('[data-do]')
  const what = named?.dataset.do ?? (link ? 'open' : undefined)
  onPress(row, what, { anchor: named ?? place, shiftKey: event.shiftKey, modKey, double })
}
