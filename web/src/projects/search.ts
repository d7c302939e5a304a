/** Query parameters of the projects screen. Without a grouping, projects are grouped by status. */
export interface ProjectSearch {
  group?: 'initiative'
}

export const parseProjectSearch = (search: Record<string, unknown>): ProjectSearch =>
  search.group === 'initiative' ? { group: 'initiative' } : {}
