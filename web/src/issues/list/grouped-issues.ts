import { useMemo } from 'react'
import { useIssues } from '../../data/issues.ts'
import type { Directory } from '../fields/directory.ts'
import { filterOf, groupIssues, groupingOf, sortingOf } from '../fields/filter-and-group.ts'
import type { IssueSearch } from '../fields/search.ts'

/** The issues that match the filters in the URL, in groups. */
export function useGroupedIssues(urlSearch: IssueSearch, directory: Directory) {
  const search = useFilters(urlSearch)
  const { issues } = useIssues()
  const passes = useMemo(() => filterOf(search, directory), [search, directory])
  const shown = useMemo(() => issues.filter(passes), [issues, passes])
  const grouping = groupingOf(search)
  const sorting = sortingOf(search)
  const board = search.layout === 'board'
  const groups = useMemo(
    () => groupIssues(shown, { grouping, sorting, board, directory }),
    [shown, grouping, sorting, board, directory],
  )
  return { groups, count: shown.length, grouping, sorting, board }
}

/** Returns the same object while the filters are equal, also when the preview changes. */
function useFilters({ peek: _, ...filters }: IssueSearch): IssueSearch {
  const key = JSON.stringify(filters)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal keys mean equal filters
  return useMemo(() => filters, [key])
}
