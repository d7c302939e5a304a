import { useMemo } from 'react'
import { useIssues } from '../../data/issues.ts'
import type { IssueSearch } from '../../views/search.ts'
import { arrange, filterOf, groupingOf, sortingOf } from '../fields/arrange.ts'
import type { Known } from '../fields/known.tsx'

/** Columns of a board stand there before anything is in them. */
const always: Record<string, (known: Known) => string[]> = {
  status: ({ options }) => options.status.map(({ value }) => value),
  priority: ({ options }) => options.priority.map(({ value }) => value),
}

/** The issues that the address asks for, under their headings. */
export function useArranged(address: IssueSearch, known: Known) {
  const search = useFilters(address)
  const { issues } = useIssues()
  const { me, teams } = known
  const passes = useMemo(
    () => filterOf(search, { me, teamIds: new Map(teams.map(({ key, id }) => [key, id])) }),
    [search, me, teams],
  )
  const shown = useMemo(() => issues.filter(passes), [issues, passes])
  const grouping = groupingOf(search)
  const sorting = sortingOf(search)
  const board = search.layout === 'board'
  const groups = useMemo(
    () =>
      arrange(shown, {
        grouping,
        sorting,
        board,
        nameOf: (value) => (grouping === 'none' ? '' : known.nameOf(grouping, value)),
        always: board ? (always[grouping]?.(known) ?? []) : [],
      }),
    [shown, grouping, sorting, board, known],
  )
  return { groups, count: shown.length, grouping, sorting, board }
}

/** The same object for as long as the filters are the same, whatever is open beside the list. */
function useFilters({ peek: _, ...filters }: IssueSearch): IssueSearch {
  const key = JSON.stringify(filters)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it says is its identity
  return useMemo(() => filters, [key])
}
