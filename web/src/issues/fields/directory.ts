import type { Choice, Cycle, Initiative, Label, Milestone, Project, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { cachedOrRead } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { useNameOfPerson } from '../../data/names.ts'
import { cyclesQuery, initiativesQuery, labelsQuery, milestonesQuery } from '../../data/planning.ts'
import { projectsQuery } from '../../data/projects.ts'
import { peopleQuery, teamsQuery } from '../../data/workspaces.ts'

interface Lists {
  people: readonly Choice[]
  labels: readonly Label[]
  projects: readonly Project[]
  cycles: readonly Cycle[]
  teams: readonly Team[]
  milestones: readonly Milestone[]
  initiatives: readonly Initiative[]
}
type ListName = keyof Lists

/** The rows that issues and projects refer to, by id. Maps keep the order of their lists. */
export type Directory = { [Name in ListName]: ReadonlyMap<string, Lists[Name][number]> } & {
  /** The signed-in user's id. */
  me: string
  /** Its lists have been read. Until then an id that is missing is not known to be deleted. */
  complete: boolean
  /** Of a person who is in no list. */
  nameOfPerson?: (id: string) => string | undefined
  load: () => Promise<Directory>
}

const byId = <Item extends { id: string }>(items: readonly Item[] = []) => new Map(items.map((item) => [item.id, item]))

export const directoryOf = (me: string, lists: Partial<Lists>, complete: boolean): Directory => ({
  me,
  complete,
  people: byId(lists.people),
  labels: byId(lists.labels),
  projects: byId(lists.projects),
  cycles: byId(lists.cycles),
  teams: byId(lists.teams),
  milestones: byId(lists.milestones),
  initiatives: byId(lists.initiatives),
  load: async () => {
    const [people, labels, projects, cycles, teams, milestones, initiatives] = await Promise.all([
      cachedOrRead(peopleQuery),
      cachedOrRead(labelsQuery),
      cachedOrRead(projectsQuery),
      cachedOrRead(cyclesQuery),
      cachedOrRead(teamsQuery),
      cachedOrRead(milestonesQuery),
      cachedOrRead(initiativesQuery),
    ])
    return directoryOf(me, { people, labels, projects, cycles, teams, milestones, initiatives }, true)
  },
})

/** The lists that the rows of a list of issues refer to. */
const forList: ListName[] = ['people', 'labels', 'projects', 'cycles', 'teams']
export const forIssue: ListName[] = [...forList, 'milestones']
export const forProject: ListName[] = ['people', 'labels', 'teams', 'initiatives']

/** Reads the named lists; the others may be empty. */
export function useDirectory(names: ListName[] = forList): Directory {
  const me = useMe().user.id
  const nameOfPerson = useNameOfPerson()
  const { data: people } = useQuery({ ...peopleQuery, enabled: names.includes('people') })
  const { data: labels } = useQuery({ ...labelsQuery, enabled: names.includes('labels') })
  const { data: projects } = useQuery({ ...projectsQuery, enabled: names.includes('projects') })
  const { data: cycles } = useQuery({ ...cyclesQuery, enabled: names.includes('cycles') })
  const { data: teams } = useQuery({ ...teamsQuery, enabled: names.includes('teams') })
  const { data: milestones } = useQuery({ ...milestonesQuery, enabled: names.includes('milestones') })
  const { data: initiatives } = useQuery({ ...initiativesQuery, enabled: names.includes('initiatives') })
  return useMemo(() => {
    const lists = { people, labels, projects, cycles, teams, milestones, initiatives }
    const read = Object.fromEntries(Object.entries(lists).filter(([, list]) => list)) as Partial<Lists>
    const complete = names.every((name) => read[name])
    return { ...directoryOf(me, read, complete), nameOfPerson }
  }, [me, nameOfPerson, names, people, labels, projects, cycles, teams, milestones, initiatives])
}
