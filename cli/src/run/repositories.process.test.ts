import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { temporary } from '../../test/baton.ts'
import { repository } from '../../test/repository.ts'
import { runnerScene } from '../../test/runner-scene.ts'
import { readSettings } from './options.ts'

async function configFile(config: object): Promise<string> {
  const path = join(await temporary(), 'run.json')
  await writeFile(path, JSON.stringify(config))
  return path
}

test(
  'project, team and hint choose the repository, else a person does',
  verifies('run.config-chooses-repository'),
  async ({ app }) => {
    const [one, two, three] = [
      await repository({ '1.txt': '' }),
      await repository({ '2.txt': '' }),
      await repository({ '3.txt': '' }),
    ]
    const config = await configFile({
      repositories: [
        { path: one, repository: 'acme/one' },
        { path: two, teams: ['OPS'] },
        { path: three, projects: ['Doors'] },
      ],
    })
    const scene = await runnerScene(app, { script: { turns: [[{ run: 'ls' }, { say: 'Done.' }]] }, flags: { config } })
    await scene.start()
    const files = async () => (await scene.agentLog()).flatMap(({ ran }) => (ran === undefined ? [] : [ran.trim()]))
    const { owner } = scene
    const ops = (await owner.post('/teams', { name: 'Operations', key: 'OPS' })).body
    const project = (await owner.post('/projects', { title: 'Doors', team_ids: [ops.id] })).body
    const delegate = async (more: object) => {
      const { body } = await owner.post('/issues', { title: 'Mend', delegate_id: scene.agentUserId, ...more })
      const { body: sessions } = await owner.get(`/agent-sessions?issue_id=${body.id}`)
      return sessions.data[0].id as string
    }
    await scene.inState(await delegate({ team_id: ops.id }), 'complete')
    await scene.inState(await delegate({ team_id: ops.id, project_id: project.id }), 'complete')
    expect(await files()).toEqual(['2.txt', '3.txt'])

    const asked = await delegate({ team_id: scene.team.id })
    await scene.inState(asked, 'awaitingInput')
    const question = await scene.last(asked)
    expect(question.signal_metadata?.options.map(({ label }) => label)).toEqual([
      'acme/one',
      expect.any(String),
      expect.any(String),
    ])
    await scene.answer(asked, question, 'repository-2')
    await scene.inState(asked, 'complete')
    await scene.say(asked, 'More.')
    await scene.until(async () => (await scene.prompts()).length === 4)
    await scene.inState(asked, 'complete')
    expect(await files()).toEqual(['2.txt', '3.txt', '2.txt', '2.txt'])

    const unclear = await delegate({ team_id: scene.team.id })
    await scene.inState(unclear, 'awaitingInput')
    await owner.patch(`/teams/${scene.team.id}`, { repositories: [{ repository: 'acme/one' }] })
    const hinted = await delegate({ team_id: scene.team.id })
    await scene.inState(hinted, 'complete')
    expect((await files()).at(-1)).toBe('1.txt')
  },
)

test('an unknown key or value is a usage error that names it', verifies('run.config-chooses-repository'), async () => {
  const settings = (values: Record<string, string | boolean>, rest = ['agent']) => readSettings({ values, rest })
  const withFile = async (config: object) => settings({ config: await configFile(config) })
  await expect(withFile({ colour: 'red' })).rejects.toThrow(/unknown key colour/)
  await expect(withFile({ repositories: [{ path: '.', colour: 1 }] })).rejects.toThrow(
    /repositories\[0\] has an unknown key colour/,
  )
  await expect(withFile({ repositories: [] })).rejects.toThrow(/at least one/)
  await expect(withFile({ parallel: 99 })).rejects.toThrow(/1 to 16/)
  expect(() => settings({}, [])).toThrow(/COMMAND is missing/)
  expect(() => settings({ idle: 'soon' })).toThrow(/--idle must be a time/)
  expect(() => settings({ allow: 'read,fly' })).toThrow(/unknown kind fly/)
  expect(() => settings({ tools: 'some' })).toThrow(/read, all or none/)
  expect(() => settings({ 'follow-up': 'x' })).toThrow(/needs --plain/)
  expect(() => settings({ issue: 'ENG-1' })).toThrow(/needs --once/)
  const file = await configFile({
    command: ['opencode', 'acp'],
    idle: '5m',
    answerTimeout: '1h',
    people: ['a@b.c'],
    parallel: 3,
    noCommit: true,
  })
  expect(settings({ config: file, idle: '90s' }, [])).toMatchObject({
    command: ['opencode', 'acp'],
    name: 'opencode',
    idleMs: 90_000,
    answerTimeoutMs: 3_600_000,
    people: ['a@b.c'],
    parallel: 3,
    commit: false,
  })
  expect(settings({}).parallel).toBe(2)
  expect(settings({ 'no-git': true, parallel: '4' }).parallel).toBe(1)
})
