import { useState } from 'react'

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Fields that are edited and then saved together. Without edits they follow the saved values; with edits they stay, and
 * `isOutdated` reports that the saved values changed in the meantime.
 */
export function useDraft<Fields extends object>(saved: Fields) {
  const [base, setBase] = useState(saved)
  const [draft, setDraft] = useState(saved)
  const isEdited = !isSame(draft, base)
  const reset = () => {
    setBase(saved)
    setDraft(saved)
  }
  const isBehind = !isSame(saved, base)
  const follows = isBehind && (!isEdited || isSame(draft, saved))
  if (follows) reset()
  return {
    draft,
    change: (fields: Partial<Fields>) => setDraft((before) => ({ ...before, ...fields })),
    isEdited,
    isOutdated: isBehind && !follows,
    reset,
  }
}
