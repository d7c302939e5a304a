import { currentWorkspaceId } from '../../data/api.ts'

const key = () => `baton.team.${currentWorkspaceId()}`

/** The team of the last issue that was created in this workspace, in this browser. */
export const lastTeam = () => localStorage.getItem(key())
export const rememberTeam = (id: string) => localStorage.setItem(key(), id)
