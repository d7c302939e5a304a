import type { Directory } from '../fields/directory.ts'

/** The issues screen writes it too, when it lists one team. */
const entry = ({ me }: Directory) => `baton.team.${me}`

/** The id of the team whose issues this user last listed or added to in this browser, if it is in this workspace. */
export function lastTeam(directory: Directory): string | null {
  const key = localStorage.getItem(entry(directory))
  return [...directory.teams.values()].find((team) => team.key === key)?.id ?? null
}

export const rememberTeam = (directory: Directory, id: string) =>
  localStorage.setItem(entry(directory), directory.teams.get(id)?.key ?? '')
