import { useState } from 'react'

/** Equal for names that readers take for the same. Stored names are NFKC already; typed ones are not. */
const comparable = (name: string) => name.normalize('NFKC').trim().toLowerCase()

export const withSameName = <Item extends { name: string }>(items: readonly Item[], name: string) =>
  items.find((item) => comparable(item.name) === comparable(name))

/** Warns once before a second item with the same name is saved, which the API permits. */
export function useSameNameWarning<Item extends { name: string }>(name: string, others: readonly Item[]) {
  const [warnedName, setWarnedName] = useState<string>()
  const same = withSameName(others, name)
  const isWarned = warnedName === comparable(name)
  return {
    /** The other item, after the first attempt to save. */
    same: isWarned ? same : undefined,
    /** Returns whether saving has to wait for a second confirmation. */
    warn: () => {
      if (!same || isWarned) return false
      setWarnedName(comparable(name))
      return true
    },
  }
}
