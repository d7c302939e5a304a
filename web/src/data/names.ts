import { createStore, useStore } from '../ui/store.ts'
import { api } from './api.ts'

// Placeholders of imports and erased people are in no list. Their names are read when an id is first shown.
const atOnce = 50
const asked = new Set<string>()
let next: string[] = []

const finder = (names: ReadonlyMap<string, string>) => (id: string) => {
  if (!asked.has(id)) {
    asked.add(id)
    if (next.push(id) === 1) queueMicrotask(read)
  }
  return names.get(id)
}

let names: ReadonlyMap<string, string> = new Map()
const store = createStore(finder(names))

/** Finds the name of a person without an account. It is another function when more names are known. */
export const useNameOfPerson = () => useStore(store)

async function read() {
  const ids = next
  next = []
  for (let start = 0; start < ids.length; start += atOnce) {
    const some = ids.slice(start, start + atOnce)
    try {
      const { data } = await api.listNames({ ids: some.join(',') })
      names = new Map([...names, ...data.map((one) => [one.id, one.display_name] as const)])
      if (data.length > 0) store.set(finder(names))
    } catch {
      for (const id of some) asked.delete(id) // asked again when shown again
    }
  }
}
