import type { Choice } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, queries, readAll } from './api.ts'

export const workspaceQuery = queryOptions({ queryKey: ['workspace'], queryFn: () => api.getWorkspace() })

export const membersQuery = queryOptions({
  queryKey: ['workspace', 'members'],
  queryFn: () => readAll('listMembers'),
})

/** Pending invitations. For managers. */
export const invitationsQuery = queryOptions({
  queryKey: ['workspace', 'invitations'],
  queryFn: () => readAll('listInvitations'),
})

export const teamsQuery = queryOptions({
  queryKey: ['workspace', 'teams'],
  queryFn: async () => {
    const teams = await readAll('listTeams')
    return teams.sort((a, b) => a.name.localeCompare(b.name))
  },
})

/** All people and agents of the workspace. */
export const peopleQuery = queryOptions({
  queryKey: ['workspace', 'people'],
  queryFn: () => readAll('selectUsers'),
})

const none = new Map<string, Choice>()
const byId = (people: Choice[]) => new Map(people.map((person) => [person.id, person]))

/** People and agents by id. */
export const usePeople = () => useQuery({ ...peopleQuery, select: byId }).data ?? none

export const useTeams = () => useQuery(teamsQuery).data ?? []

/** The people of a team, without the agents installed for it. */
export const teamMembersQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['workspace', 'team-members', teamId],
    queryFn: async () => {
      const [members, people] = await Promise.all([
        readAll('listTeamMembers', { team_id: teamId }),
        queries.ensureQueryData(membersQuery),
      ])
      const human = new Set(people.map(({ id }) => id))
      return members.filter(({ id }) => human.has(id))
    },
  })
