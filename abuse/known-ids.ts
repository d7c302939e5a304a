import type { Group } from './canaries.ts'

const kept = 300
const idPattern = /\b([a-z]{2,4})_[0-9a-hjkmnp-tv-z]{26}\b/g

/** A reference to an item. Resolved when the request is sent, so that later requests use items that earlier ones created. */
export class Ref {
  readonly kind: string
  readonly from: 'own' | 'guarded' | 'invented' | 'other kind'
  readonly index: number

  constructor(kind: string, from: Ref['from'], index: number) {
    this.kind = kind
    this.from = from
    this.index = index
  }
}

/** Ids, codes and tokens to use in requests. */
export class KnownIds {
  /** Items that permitted callers may change. */
  readonly #free = new Map<string, string[]>()
  /** Items with canaries, and the callers' own: permitted callers do not change them, so that their visibility stays the same. */
  readonly #guarded = new Map<string, { id: string; group: Group }[]>()
  readonly #guardedIds = new Set<string>()
  /** Ids found in responses about another id, such as the deliveries of a webhook. */
  readonly #related = new Map<string, string[]>()

  add(kind: string, value: string) {
    if (this.#guardedIds.has(value)) return
    const known = this.#free.get(kind) ?? []
    if (!known.includes(value)) this.#free.set(kind, [...known, value].slice(-kept))
  }

  forget(id: string) {
    for (const [kind, known] of this.#free) {
      if (known.includes(id))
        this.#free.set(
          kind,
          known.filter((other) => other !== id),
        )
    }
  }

  guard(id: string, group: Group, kind = id.slice(0, id.lastIndexOf('_'))) {
    this.#guardedIds.add(id)
    const known = this.#guarded.get(kind) ?? []
    this.#guarded.set(kind, [...known, { id, group }])
  }

  /** Adds every id in a response. */
  learn(text: string, about: string | undefined) {
    for (const [id, kind] of text.matchAll(idPattern)) {
      if (this.#guardedIds.has(id)) continue
      this.add(kind as string, id)
      if (about && about !== id) this.#related.set(about, [...(this.#related.get(about) ?? []), id].slice(-kept))
    }
  }

  /** A caller that may change a guarded item gets another one if the request writes. */
  find({ kind, from, index }: Ref, mayRead: ReadonlySet<Group>, writes: boolean, about?: string): string {
    const related = about ? this.#related.get(about)?.filter((id) => id.startsWith(`${kind}_`)) : undefined
    if (related && index % 4) return at(related, index)
    if (from === 'guarded') {
      const guarded = (this.#guarded.get(kind) ?? []).filter(({ group }) => !writes || !mayRead.has(group))
      if (guarded.length > 0) return at(guarded, index).id
    }
    if (from === 'other kind') {
      return at([...this.#free.values()].flat(), index)
    }
    const free = this.#free.get(kind) ?? []
    // Recent items are most likely to exist.
    if (from !== 'invented' && free.length > 0) return at(index % 2 ? free : free.slice(-4), index >> 1)
    return `${kind}_${String(index).padStart(26, '0').slice(-26)}`
  }
}

const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T
