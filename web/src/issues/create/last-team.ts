import { currentWorkspaceId } from '../../data/api.ts'

const key = (userId: string) => `baton.team.${currentWorkspaceId()}.${userId}`

/** The team whose issues this user last listed or added to in this workspace, in this browser. */
export const lastTeam = (userId: string) => localStorage.getItem(key(userId))
export const rememberTeam = (userId: string, teamId: string) => localStorage.setItem(key(userId), teamId)
