import { expect } from 'vitest'
import type { Client, Response } from './client.ts'
import type { TestApp, TestPerson } from './harness.ts'

export type Robot = Awaited<ReturnType<TestApp['installed']>>

export const denied = { status: 403, body: { code: 'TEAM_ACCESS_DENIED' } }
export const missing = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } }
export const bad = (field: string) => ({
  status: 422,
  body: { code: 'VALIDATION_ERROR', details: { [field]: expect.any(String) } },
})
export const lacking = (required: string) => ({
  status: 403,
  body: { code: 'INSUFFICIENT_SCOPE', details: { required } },
})
export const noSuch = (prefix: string) => `${prefix}_${'0'.repeat(26)}`
export const ids = (answer: Response) => answer.body.data.map(({ id }: { id: string }) => id).sort()
export const sorted = (...all: string[]) => all.sort()

export const id = async (call: Promise<Response>): Promise<string> => {
  const { status, body } = await call
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

/** Two teams: `robot` covers the first, `everywhere` all; items in each team, in none, and private ones. */
export async function reachScene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = await id(owner.post('/teams', { name: 'Engineering', key: 'ENG' }))
  const otherTeam = await id(owner.post('/teams', { name: 'Design', key: 'DES' }))
  const make = (by: TestPerson, path: string, body: object) => id(by.post(path, { title: 'Something', ...body }))
  const issues = {
    covered: await make(member, '/issues', { team_id: team }),
    other: await make(member, '/issues', { team_id: otherTeam }),
    teamless: await make(member, '/issues', {}),
    personal: await make(member, '/issues', { personal: true }),
  }
  const projects = {
    covered: await make(member, '/projects', { team_ids: [team] }),
    both: await make(member, '/projects', { team_ids: [team, otherTeam] }),
    other: await make(member, '/projects', { team_ids: [otherTeam] }),
    teamless: await make(member, '/projects', {}),
    personal: await make(member, '/projects', { personal: true }),
  }
  const robot = await app.installed(owner, { teamIds: [team] })
  const everywhere = await app.installed(owner)
  return { ...workspace, team, otherTeam, issues, projects, robot, everywhere }
}

export type Scene = Awaited<ReturnType<typeof reachScene>>

/** Each call is refused in this way, and changes nothing. */
export async function refused(app: TestApp, calls: Record<string, [() => Promise<Response>, object]>) {
  await app.unchanged(async () => {
    for (const [name, [call, answer]] of Object.entries(calls)) expect(await call(), name).toMatchObject(answer)
  })
}

export const allOf = (calls: Record<string, () => Promise<Response>>, answer: object) =>
  Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, [call, answer] as [typeof call, object]]))

export const everyVerb = (client: Client, path: string, change: object): Record<string, () => Promise<Response>> => ({
  get: () => client.get(path),
  put: () => client.put(path, change),
  delete: () => client.delete(path),
})
