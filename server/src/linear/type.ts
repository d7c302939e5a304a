import type { Context } from '../context.ts'
import type { App } from '../http/caller.ts'
import type { Loaders } from './loaders.ts'
import type { Operations } from './operations.ts'

/** What resolvers get. */
export interface Run {
  ctx: Context
  caller: App
  operations: Operations
  load: Loaders
  /** Input keys without a counterpart, for `extensions.baton.ignored`. */
  ignored: Set<string>
}

export type Args = Record<string, unknown>

/**
 * A field of an object. `resolve` gets all objects of one level at once, so that it needs the same number of statements
 * for one as for many.
 */
export interface Field<Parent = never> {
  /** Unset for a plain value. */
  type?: () => ObjectType
  /** SQL statements that it runs, however many parents there are. */
  statements?: number
  /** The arguments that it takes; others are ignored. */
  args?: readonly string[]
  /** Checks the arguments before anything runs; its result is what `resolve` gets. */
  prepare?: (args: Args) => Args
  /** The number of items of a page, by which the objects inside are multiplied. */
  pageSize?: (prepared: Args) => number
  resolve: (parents: Parent[], args: Args, run: Run) => unknown[] | Promise<unknown[]>
}

export interface ObjectType {
  name: string
  /** The fields depend on the `__typename` of each object. */
  union?: true
  fields: { readonly [name: string]: Field }
}

/** A plain value. */
export const value = <Parent>(read: (parent: Parent) => unknown): Field<Parent> => ({
  resolve: (parents) => parents.map(read),
})

/** An object, or a list of objects, that the parent contains. */
export const object = <Parent>(type: () => ObjectType, read: (parent: Parent) => unknown): Field<Parent> => ({
  type,
  resolve: (parents) => parents.map(read),
})

/** An object that the parent refers to by its id; null if the app cannot see it. */
export const reference = <Parent, Item>(
  type: () => ObjectType,
  loader: (load: Loaders) => (ids: string[]) => Promise<Map<string, Item>>,
  idOf: (parent: Parent) => string | null,
): Field<Parent> => ({
  type,
  statements: 1,
  resolve: async (parents, _args, { load }) => {
    const ids = parents.map(idOf)
    const found = await loader(load)(ids.filter((id) => id !== null))
    return ids.map((id) => (id === null ? null : (found.get(id) ?? null)))
  },
})
