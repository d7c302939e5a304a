/** What the address of the issues screen says: which issues, and how they are laid out. */
export interface IssueSearch {
  team?: string
  status?: string
  priority?: string
  type?: string
  assignee?: string
  delegate?: string
  label?: string
  project?: string
  cycle?: string
  q?: string
  group?: string
  sort?: string
  layout?: 'list' | 'board'
  /** The code of an issue that is open beside the list. */
  peek?: string
}

/** What issues can be filtered by; several values of one are separated by commas. */
export const filterFields = [
  'status',
  'priority',
  'assignee',
  'delegate',
  'label',
  'project',
  'cycle',
  'type',
  'team',
] as const
export type FilterField = (typeof filterFields)[number]

const keys = [...filterFields, 'q', 'group', 'sort', 'peek'] as const

/** Only what is known, each as text. */
export function parseIssueSearch(search: Record<string, unknown>): IssueSearch {
  const known: IssueSearch = {}
  for (const key of keys) {
    const value = search[key]
    // The router takes what looks like a number or a truth value for one.
    if (/^(string|number|boolean)$/.test(typeof value) && value !== '') known[key] = String(value)
  }
  if (search.layout === 'board') known.layout = 'board'
  return known
}

export const valuesOf = (search: IssueSearch, field: FilterField): string[] => search[field]?.split(',') ?? []

/** With these values of a field; with none, without it. */
export function withValues(search: IssueSearch, field: FilterField, values: readonly string[]): IssueSearch {
  const { [field]: _, ...others } = search
  return values.length > 0 ? { ...others, [field]: values.join(',') } : others
}

export const isFiltered = (search: IssueSearch) => filterFields.some((field) => search[field]) || Boolean(search.q)

/** How issues are laid out, without which. */
export const withoutFilters = ({ group, sort, layout }: IssueSearch): IssueSearch => ({
  ...(group && { group }),
  ...(sort && { sort }),
  ...(layout && { layout }),
})

/** As a saved view keeps it: a query in a fixed order, without what is open beside the list. */
export function queryOf(search: IssueSearch): string {
  const query = new URLSearchParams()
  for (const key of [...filterFields, 'q', 'group', 'sort', 'layout'] as const) {
    const value = search[key]
    if (value) query.set(key, value)
  }
  return query.toString()
}

export function searchOf(query: string): IssueSearch {
  const values = new URLSearchParams(query)
  return parseIssueSearch(Object.fromEntries([...values.keys()].map((key) => [key, values.getAll(key).join(',')])))
}
