import { expect } from 'vitest'
import type { TestApp, TestPerson } from './harness.ts'

export * from './import-files.ts'

/** Creates an import with one file. */
export async function upload(
  manager: TestPerson,
  source: string,
  content: string,
  name = 'issues.csv',
): Promise<string> {
  const { body: created, status } = await manager.post('/imports', { source })
  expect(status).toBe(201)
  const added = await manager.post(`/imports/${created.id}/files?name=${name}`, undefined, {
    raw: content,
    headers: { 'content-type': 'text/csv' },
  })
  expect(added.status).toBe(201)
  return created.id
}

/** Reads an import, with a mapping if one is given. */
export async function preview(app: TestApp, manager: TestPerson, id: string, mapping?: object) {
  expect((await manager.post(`/imports/${id}/read`)).status).toBe(200)
  await app.workOnImports()
  if (mapping) {
    expect((await manager.patch(`/imports/${id}`, { mapping })).body).toMatchObject({ id })
    await manager.post(`/imports/${id}/read`)
    await app.workOnImports()
  }
  return (await manager.get(`/imports/${id}`)).body
}

export async function start(app: TestApp, manager: TestPerson, id: string) {
  const started = await manager.post(`/imports/${id}/start`)
  expect(started.body).toMatchObject({ state: 'running' })
  await app.workOnImports()
  return (await manager.get(`/imports/${id}`)).body
}

/** Uploads, reads and runs. */
export async function importAll(app: TestApp, manager: TestPerson, source: string, content: string, mapping?: object) {
  const id = await upload(manager, source, content)
  const read = await preview(app, manager, id, mapping)
  expect(read.state).toBe('ready')
  const done = await start(app, manager, id)
  expect(done.state).toBe('done')
  return done
}

export async function problemsOf(manager: TestPerson, id: string) {
  return (await manager.get(`/imports/${id}/problems?limit=100`)).body.data as {
    row: number | null
    field: string | null
    value: string | null
    message: string
  }[]
}

export const issuesOf = async (person: TestPerson) => (await person.get('/issues?limit=100')).body.data

export const issueCalled = async (person: TestPerson, title: string) =>
  (await issuesOf(person)).find((issue: { title: string }) => issue.title === title)
