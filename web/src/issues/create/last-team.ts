import { useEffect } from 'react'
import { currentWorkspaceId } from '../../data/api.ts'
import type { Directory } from '../fields/directory.ts'
import type { IssueSearch } from '../fields/search.ts'
import { presetFor } from './create-preset.ts'

const key = (userId: string) => `baton.team.${currentWorkspaceId()}.${userId}`

/** The team whose issues this user last listed or added to in this workspace, in this browser. */
export const lastTeam = (userId: string) => localStorage.getItem(key(userId))
export const rememberTeam = (userId: string, teamId: string) => localStorage.setItem(key(userId), teamId)

/** Remembers the team whose issues the screen lists. */
export function useLastTeam(search: IssueSearch, directory: Directory) {
  const { team_id } = presetFor(search, directory)
  useEffect(() => {
    if (team_id) rememberTeam(directory.me, team_id)
  }, [team_id, directory.me])
}
