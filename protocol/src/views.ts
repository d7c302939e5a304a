import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Page, Timestamp } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** What the issues screen keeps in its address. */
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
  'q',
  'group',
  'sort',
  'layout',
] as const

const Query = Type.String({
  maxLength: limits.viewQuery,
  description: `A query without its question mark, such as status=todo&group=assignee. It may have ${viewKeys.join(', ')}, each more than once, with values of at most ${limits.viewValue} characters.`,
  'x-message': `must have at most ${limits.viewQuery} characters`,
})

/** The issues screen as somebody set it up and wants to see it again. */
export const View = Type.Object(
  {
    id: id('view'),
    name: Type.String(),
    shared: Type.Boolean(),
    /** Null once its owner has left; such a view is shared. */
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
    summary: 'Views of the issues screen, newest first: your own, and those that others share',
    query: Page,
    returns: { 200: list(View) },
  }),
  createView: operation(routes.createView, {
    summary: `Keep a view, for yourself unless it is shared; a person has at most ${limits.viewsPerPerson}`,
    body: NewView,
    returns: { 201: View },
    errors: ['VIEW_LIMIT_REACHED'],
  }),
  updateView: operation(routes.updateView, {
    summary: 'Change the fields that are sent: the owner, or a manager if it is shared',
    body: ViewChange,
    returns: { 200: View },
    errors: ['FORBIDDEN'],
  }),
  deleteView: operation(routes.deleteView, {
    summary: 'Delete a view: the owner, or a manager if it is shared',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
