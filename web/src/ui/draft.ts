import { useState } from 'react'

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Fields that are edited and then saved together. Untouched they follow what the server says; touched they stay as they
 * were typed, and tell when somebody else changed them meanwhile.
 */
export function useDraft<Fields extends object>(said: Fields) {
  const [base, setBase] = useState(said)
  const [draft, setDraft] = useState(said)
  const isTouched = !isSame(draft, base)
  const takeTheirs = () => {
    setBase(said)
    setDraft(said)
  }
  const isBehind = !isSame(said, base)
  const follows = isBehind && (!isTouched || isSame(draft, said))
  if (follows) takeTheirs()
  return {
    draft,
    change: (fields: Partial<Fields>) => setDraft((before) => ({ ...before, ...fields })),
    isTouched,
    isOvertaken: isBehind && !follows,
    takeTheirs,
  }
}
