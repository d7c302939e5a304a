import { type FilterId, filterFields } from './fields.tsx'

/** Query parameters of the issues screen: a filter for each field, and the layout. */
export interface IssueSearch extends Partial<Record<FilterId, string>> {
  /** Words in the title or code. */
  q?: string
  group?: string
  sort?: string
  layout?: 'list' | 'board'
  /** The code of the issue in the preview. */
  peek?: string
}

const filterIds = filterFields.map(({ id }) => id)
const keys = [...filterIds, 'q', 'group', 'sort', 'peek'] as const

/** Keeps the parameters that the screen has, each as text. */
export function parseIssueSearch(search: Record<string, unknown>): IssueSearch {
  const parsed: IssueSearch = {}
  for (const key of keys) {
    const value = search[key]
    // The router parses values such as 1 and true.
    if (/^(string|number|boolean)$/.test(typeof value) && value !== '') parsed[key] = String(value)
  }
  if (search.layout === 'board') parsed.layout = 'board'
  return parsed
}

/** The values of a filter, separated by commas in the URL. */
export const valuesOf = (search: IssueSearch, field: FilterId): string[] =>
  search[field]?.replace(/^!/, '').split(',') ?? []

/** Whether the filter excludes its values: in the URL they follow an exclamation mark. */
export const isNegated = (search: IssueSearch, field: FilterId) => search[field]?.startsWith('!') ?? false

/** Sets the values of a filter; no values remove it. */
export function withValues(
  search: IssueSearch,
  field: FilterId,
  values: readonly string[],
  negated = isNegated(search, field),
): IssueSearch {
  const { [field]: _, ...others } = search
  return values.length > 0 ? { ...others, [field]: (negated ? '!' : '') + values.join(',') } : others
}

export const isFiltered = (search: IssueSearch) => filterIds.some((id) => search[id]) || Boolean(search.q)

/** The layout without the filters. */
export const withoutFilters = ({ group, sort, layout }: IssueSearch): IssueSearch => ({
  ...(group && { group }),
  ...(sort && { sort }),
  ...(layout && { layout }),
})

/** The query that a saved view stores: parameters in a fixed order, without the preview. */
export function queryOf(search: IssueSearch): string {
  const query = new URLSearchParams()
  for (const key of [...filterIds, 'q', 'group', 'sort', 'layout'] as const) {
    const value = search[key]
    if (value) query.set(key, value)
  }
  return query.toString()
}

export function searchOf(query: string): IssueSearch {
  const values = new URLSearchParams(query)
  return parseIssueSearch(Object.fromEntries([...values.keys()].map((key) => [key, values.getAll(key).join(',')])))
}

/** An item of the sidebar that lists issues. */
export type Place = 'all' | 'mine' | `team ${string}` | `view ${string}`

/**
 * The item of the sidebar that these issues belong to. More filters, another layout or an open preview do not leave it;
 * only a saved view is left when its query changes.
 */
export function placeOf(search: IssueSearch, me: string, views: readonly { id: string; query: string }[]): Place {
  const query = queryOf(search)
  const view = query && views.find((one) => queryOf(searchOf(one.query)) === query)
  if (view) return `view ${view.id}`
  if (search.team && !/[!,]/.test(search.team)) return `team ${search.team}`
  return search.assignee === me ? 'mine' : 'all'
}
