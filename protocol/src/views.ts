import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Page, Timestamp } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** The query parameters of the issues screen. */
export const viewKeys = [
  'team',
  'status',
  'priority',
  'type',
  'assignee',
  'delegate',
  'label',
  'project',
  'cycle',
  'reporter',
  'due',
  'created',
  'updated',
  'q',
  'group',
  'sort',
  'layout',
] as const

const Query = Type.String({
  maxLength: limits.viewQuery,
  description: `A query string without the question mark, such as status=todo&group=assignee. Allowed keys: ${viewKeys.join(', ')}; each can occur several times. Values have at most ${limits.viewValue} characters.`,
  'x-message': `must have at most ${limits.viewQuery} characters`,
})

/** A saved configuration of the issues screen. */
export const View = Type.Object(
  {
    id: id('view'),
    name: Type.String(),
    shared: Type.Boolean(),
    /** Null after the owner has left; such a view is shared. */
    owner_id: nullable(id('usr')),
    query: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'View' },
)
export type View = Static<typeof View>

export const NewView = Type.Object({ name: Name, query: Query, shared: Type.Optional(Type.Boolean()) }, closed)
export type NewView = Static<typeof NewView>
export const ViewChange = Type.Partial(Type.Object({ name: Name, query: Query, shared: Type.Boolean() }), closed)
export type ViewChange = Static<typeof ViewChange>

export const views = {
  listViews: operation(routes.listViews, {
    summary: 'List saved views, newest first: your own and shared ones',
    query: Page,
    returns: { 200: list(View) },
  }),
  createView: operation(routes.createView, {
    summary: `Save a view, private unless shared; at most ${limits.viewsPerPerson} for each person`,
    body: NewView,
    returns: { 201: View },
    errors: ['VIEW_LIMIT_REACHED'],
  }),
  updateView: operation(routes.updateView, {
    summary: 'Change the given fields of a view (owner, or manager if it is shared)',
    body: ViewChange,
    returns: { 200: View },
    errors: ['FORBIDDEN'],
  }),
  deleteView: operation(routes.deleteView, {
    summary: 'Delete a view (owner, or manager if it is shared)',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
