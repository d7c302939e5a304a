import type { Directory } from '../fields/directory.ts'

/** The issues screen writes it too: the keys of the teams that it lists. */
const entry = ({ me }: Directory) => `team.${me}`

/** The id of the team whose issues this user last listed or added to in this browser, if it is in this workspace. */
export function lastTeam(directory: Directory): string | null {
  const keys = localStorage.getItem(entry(directory))?.split(',')
  return [...directory.teams.values()].find(({ key }) => keys?.includes(key))?.id ?? null
}

export const rememberTeam = (directory: Directory, id: string) =>
  localStorage.setItem(entry(directory), directory.teams.get(id)?.key ?? '')
