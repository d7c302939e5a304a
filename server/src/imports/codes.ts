import { codeOf, type Survey } from './survey.ts'

/** A team whose issues get codes. */
export interface NumberedTeam {
  id: string
  key: string
  /** New numbers are above this one. */
  base: number
  /** Numbers that other issues have. */
  taken: ReadonlySet<number>
  /** Whether issues keep their numbers (import.keep-codes). */
  keep: boolean
}

/** The highest number of a code with the team's key among its new issues: new numbers begin above it, so that each old code can find its issue. */
export function highestNumber(
  survey: Survey,
  teamOf: (position: number) => string | null,
  team: { id: string; key: string },
  isNew: (position: number) => boolean,
) {
  let highest = 0
  for (const [position, issue] of survey.issues.entries()) {
    const code = codeOf(issue)
    if (code && code.prefix === team.key && teamOf(position) === team.id && isNew(position))
      highest = Math.max(highest, code.number)
  }
  return highest
}

/**
 * The number of each new issue by position, 0 for the others, and the highest of each team. Without kept codes, older
 * issues get lower numbers.
 */
export function assignNumbers(
  survey: Survey,
  teams: readonly NumberedTeam[],
  teamOf: (position: number) => string | null,
  isNew: (position: number) => boolean,
): { numbers: Int32Array; highest: Map<string, number> } {
  const numbers = new Int32Array(survey.issues.length)
  const waiting = new Map(teams.map(({ id }) => [id, [] as number[]]))
  const used = new Map(teams.map(({ id, taken }) => [id, new Set(taken)]))
  const byId = new Map(teams.map((team) => [team.id, team]))
  const highest = new Map<string, number>()
  const take = (teamId: string, position: number, number: number) => {
    numbers[position] = number
    used.get(teamId)?.add(number)
    highest.set(teamId, Math.max(highest.get(teamId) ?? 0, number))
  }
  for (const [position, issue] of survey.issues.entries()) {
    const teamId = teamOf(position)
    if (teamId === null || !isNew(position)) continue
    const number = codeOf(issue)?.number
    if (byId.get(teamId)?.keep && number && !used.get(teamId)?.has(number)) take(teamId, position, number)
    else waiting.get(teamId)?.push(position)
  }
  for (const [teamId, positions] of waiting) {
    positions.sort((a, b) => inOrder(survey, a, b))
    let next = byId.get(teamId)?.keep ? (highest.get(teamId) ?? 0) : (byId.get(teamId)?.base ?? 0)
    for (const position of positions) {
      do next++
      while (used.get(teamId)?.has(next))
      take(teamId, position, next)
    }
  }
  return { numbers, highest }
}

/** By original time, then by number, then as in the source. */
function inOrder(survey: Survey, a: number, b: number): number {
  const [first, second] = [survey.issues[a], survey.issues[b]]
  if (!first || !second) return 0
  return (
    (first.createdAt ?? Number.MAX_SAFE_INTEGER) - (second.createdAt ?? Number.MAX_SAFE_INTEGER) ||
    orderOf(first, a) - orderOf(second, b)
  )
}

/** Decides between issues of the same millisecond. */
export const orderOf = (issue: { id: string; key: string | null }, position: number) =>
  codeOf(issue)?.number ?? position
