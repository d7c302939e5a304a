import { useEffect, useState } from 'react'
import { useCommands } from '../shortcuts.ts'

interface Props {
  ids: string[]
  /** What a row is, in the help: "Next session". */
  noun: string
  onOpen: (id: string) => void
}

/** A list one walks through with J and K and opens with Enter. Rows have `data-row={id}`. */
export function useRowKeys({ ids, noun, onOpen }: Props) {
  const [at, setAt] = useState<string | null>(null)
  const known = at !== null && ids.includes(at)
  useEffect(() => {
    if (at) document.querySelector(`[data-row="${CSS.escape(at)}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const move = (by: number) => {
    const index = known ? ids.indexOf(at) + by : by > 0 ? 0 : ids.length - 1
    setAt(ids[Math.max(0, Math.min(ids.length - 1, index))] ?? null)
  }
  useCommands([
    { id: `${noun}.next`, title: `Next ${noun}`, section: 'View', keys: 'j', hidden: true, run: () => move(1) },
    {
      id: `${noun}.previous`,
      title: `Previous ${noun}`,
      section: 'View',
      keys: 'k',
      hidden: true,
      run: () => move(-1),
    },
    {
      id: `${noun}.open`,
      title: `Open the ${noun}`,
      section: 'View',
      keys: 'enter',
      hidden: true,
      run: () => {
        if (known) onOpen(at)
      },
    },
  ])
  return { at: known ? at : null, setAt }
}
