import { useMemo } from 'react'
import { useIssues } from '../../data/issues.ts'
import type { Directory } from '../fields/directory.ts'
import { filterOf, groupingOf, sortingOf } from '../fields/filter-and-group.ts'
import { issueGrouper } from '../fields/group-issues.ts'
import type { IssueSearch } from '../fields/search.ts'

/** The issues that match the filters in the URL, in groups. */
export function useGroupedIssues(urlSearch: IssueSearch, directory: Directory) {
  const search = useFilters(urlSearch)
  const { issues } = useIssues()
  // Filters by date depend on the day.
  const day = new Date().toDateString()
  const grouping = groupingOf(search)
  const sorting = sortingOf(search)
  const board = search.layout === 'board'
  // biome-ignore lint/correctness/useExhaustiveDependencies: grouping, sorting and layout are part of the search
  const group = useMemo(
    () => issueGrouper({ passes: filterOf(search, directory), grouping, sorting, board, directory }),
    [search, directory, day],
  )
  const grouped = useMemo(() => group(issues), [group, issues])
  return { ...grouped, grouping, sorting, board }
}

/** Returns the same object while the filters are equal, also when the preview changes. */
function useFilters({ peek: _, ...filters }: IssueSearch): IssueSearch {
  const key = JSON.stringify(filters)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal keys mean equal filters
  return useMemo(() => filters, [key])
}
