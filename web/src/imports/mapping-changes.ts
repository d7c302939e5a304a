import type { ImportMapping, ImportMappingChange } from '@baton/protocol'
import { useRef, useState } from 'react'
import { changeImportMapping } from '../data/imports.ts'

/**
 * Saves changes of the mapping one after the other, so that none is lost while another is under way. `shown` is the
 * mapping with those that are not saved yet.
 */
export function useMappingChanges(id: string, saved: ImportMapping) {
  const [waiting, setWaiting] = useState<ImportMappingChange[]>([])
  const [error, setError] = useState<unknown>(null)
  const last = useRef(Promise.resolve())
  const failures = useRef(0)
  const change = (mapping: ImportMappingChange) => {
    setError(null)
    setWaiting((before) => [...before, mapping])
    last.current = last.current.then(async () => {
      try {
        await changeImportMapping(id, mapping)
      } catch (error) {
        failures.current++
        setError(error)
      } finally {
        setWaiting((before) => before.filter((one) => one !== mapping))
      }
    })
  }
  return {
    shown: waiting.reduce(merged, saved),
    change,
    error,
    /** Waits until all are saved; false if one was refused meanwhile. */
    settled: async () => {
      const before = failures.current
      await last.current
      return failures.current === before
    },
  }
}

/** Values of the source that the change does not name stay as they are. */
function merged(mapping: ImportMapping, change: ImportMappingChange): ImportMapping {
  const result: Record<string, unknown> = { ...mapping }
  for (const [field, value] of Object.entries(change)) {
    const isTable = typeof value === 'object' && value !== null
    result[field] = isTable ? { ...(result[field] as object), ...value } : value
  }
  return result as ImportMapping
}
