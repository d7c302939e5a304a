import { expect } from 'vitest'
import { test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

for (const [noun, id] of [
  ['labels', 'issue.labels-crud'],
  ['milestones', 'project.milestones-crud'],
  ['cycles', 'team.cycles-crud'],
  ['initiatives', 'project.initiatives-crud'],
] as const)
  test(`managers and members can list, create, update and delete ${noun}`, verifies(id), async ({ app }) => {
    const { owner, member } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body: project } = await owner.post('/projects', { title: 'Plan' })
    const { owner: stranger } = await app.workspace()
    const place = { labels: {}, milestones: { project_id: project.id }, cycles: { team_id: team.id }, initiatives: {} }[
      noun
    ]
    const more = {
      labels: { color: '#1f6feb' },
      milestones: { target_date: '2026-06-01T00:00:00.000Z' },
      cycles: { starts_at: '2026-03-02T00:00:00.000Z', ends_at: '2026-03-16T00:00:00.000Z' },
      initiatives: { description: 'Why' },
    }[noun]
    for (const person of [owner, member]) {
      const plain = await person.post(`/${noun}`, { name: 'Plain', ...place })
      expect(plain.status).toBe(201)
      const { status, body } = await person.post(`/${noun}`, { name: 'First', ...place, ...more })
      expect(status).toBe(201)
      expect(body).toMatchObject({ name: 'First', ...place, ...more })
      expect((await person.get(`/${noun}`)).body.data[0]).toEqual(body)

      app.clock.advance({ seconds: 1 })
      const method = person === owner ? 'PUT' : 'PATCH'
      const renamed = await person.request(method, `/${noun}/${body.id}`, { name: 'Second' })
      expect(renamed).toMatchObject({ status: 200 })
      expect(renamed.body).toEqual({ ...body, name: 'Second', updated_at: app.clock.now().toISOString() })
      for (const [key, value] of Object.entries(place)) {
        expect((await person.get(`/${noun}?${key}=${value}`)).body.data).toHaveLength(2)
        expect((await person.get(`/${noun}?${key}=elsewhere`)).body.data).toHaveLength(0)
        const response = await app.unchanged(() => person.post(`/${noun}`, { name: 'A', [key]: 'elsewhere' }))
        expect(response).toMatchObject({ status: 422 })
        expect(Object.keys(response.body.details)).toEqual([key])
      }
      for (const refuse of [
        () => stranger.put(`/${noun}/${body.id}`, { name: 'Mine' }),
        () => stranger.delete(`/${noun}/${body.id}`),
      ]) {
        expect(await app.unchanged(refuse)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
      expect((await person.delete(`/${noun}/${body.id}`)).status).toBe(204)
      expect((await person.delete(`/${noun}/${plain.body.id}`)).status).toBe(204)
      expect((await person.get(`/${noun}`)).body.data).toEqual([])
      expect((await person.put(`/${noun}/${body.id}`, { name: 'Gone' })).status).toBe(404)
    }
  })

test(
  'refuses a milestone for a project that is being deleted',
  verifiesOnPostgres('project.milestones-crud'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    for (let round = 0; round < 4; round++) {
      const { body: project } = await owner.post('/projects', { title: 'Plan' })
      const [, ...made] = await Promise.all([
        owner.delete(`/projects/${project.id}`),
        ...Array.from({ length: 6 }, () => owner.post('/milestones', { project_id: project.id, name: 'Beta' })),
      ])
      for (const { status } of made) expect([201, 422]).toContain(status)
      expect((await owner.get(`/milestones?project_id=${project.id}`)).body.data).toEqual([])
    }
  },
)
