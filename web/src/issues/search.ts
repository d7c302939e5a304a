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

const keys = [
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
  'peek',
] as const

/** Only what is known, each as text. */
export function parseIssueSearch(search: Record<string, unknown>): IssueSearch {
  const known: IssueSearch = {}
  for (const key of keys) {
    const value = search[key]
    if (typeof value === 'string' || typeof value === 'number') known[key] = String(value)
  }
  if (search.layout === 'board') known.layout = 'board'
  return known
}
