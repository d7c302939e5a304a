import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/adapter/element-adapter'
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { Row } from '../fields/group-issues.ts'

/** Where a dragged card would be dropped: before a card, or at the end of the column. */
export interface Over {
  column: string
  before: string | null
}

export interface Drop extends Over {
  row: Row
}

const keyOf = (data: Record<string | symbol, unknown>) => (typeof data.card === 'string' ? data.card : null)

/** A card that can be dragged, and is a drop target for others. Returns whether it is being dragged. */
export function useCardDrag(ref: RefObject<HTMLElement | null>, key: string, column: string, next: string | null) {
  const [dragged, setDragged] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    return combine(
      draggable({
        element,
        getInitialData: () => ({ card: key }),
        onDragStart: () => setDragged(true),
        onDrop: () => setDragged(false),
      }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => keyOf(source.data) !== null,
        getData: ({ input }) => {
          const { top, height } = element.getBoundingClientRect()
          return { column, before: input.clientY < top + height / 2 ? key : next }
        },
      }),
    )
  }, [ref, key, column, next])
  return dragged
}

/** The drop target below the last card. */
export const useColumnDrop = (ref: RefObject<HTMLElement | null>, column: string) =>
  useEffect(() => {
    const element = ref.current
    if (!element) return
    return dropTargetForElements({
      element,
      canDrop: ({ source }) => keyOf(source.data) !== null,
      getData: () => ({ column, before: null }),
    })
  }, [ref, column])

/** Tracks the drop position, and calls `onDrop`. */
export function useBoardDrag(ref: RefObject<HTMLElement | null>, rows: readonly Row[], onDrop: (drop: Drop) => void) {
  const [over, setOver] = useState<Over | null>(null)
  const latest = useRef({ rows, onDrop })
  latest.current = { rows, onDrop }
  useEffect(() => {
    const show = (next: Over | null) =>
      setOver((before) => (before?.column === next?.column && before?.before === next?.before ? before : next))
    return monitorForElements({
      canMonitor: ({ source }) => keyOf(source.data) !== null && (ref.current?.contains(source.element) ?? false),
      onDrag: ({ location }) => show(placeOf(location.current.dropTargets)),
      onDropTargetChange: ({ location }) => show(placeOf(location.current.dropTargets)),
      onDrop: ({ source, location }) => {
        show(null)
        const place = placeOf(location.current.dropTargets)
        const row = latest.current.rows.find(({ key }) => key === keyOf(source.data))
        if (place && row && place.before !== row.key) latest.current.onDrop({ ...place, row })
      },
    })
  }, [ref])
  return over
}

function placeOf([target]: { data: Record<string | symbol, unknown> }[]): Over | null {
  if (!target || typeof target.data.column !== 'string') return null
  const { column, before } = target.data
  return { column, before: typeof before === 'string' ? before : null }
}
