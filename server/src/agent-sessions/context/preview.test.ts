import { limits } from '@baton/protocol'
import { expect } from 'vitest'
import { invalid, missing, refusal } from '../../../test/agent-sessions.ts'
import { done, say, teamwork } from '../../../test/delegation.ts'
import { test } from '../../../test/harness.ts'
import { readPromptContext } from '../../../test/prompt-context.ts'

test('a preview is identical to the context of the next delegation', async ({ app, receiver }) => {
  const { owner, member, team, issueIn, delegated, receivedDuring } = await teamwork(app, receiver)
  await done(owner.patch('/workspaces/me', { guidance: 'Be <kind>.' }))
  const repositories = [{ repository: 'acme/web', url: 'https://git.example.com/web' }]
  await done(owner.patch(`/teams/${team.id}`, { guidance: 'Test first.', repositories }))
  await issueIn(team.id)
  const arrived = await receivedDuring(() =>
    delegated(member, { title: 'Newest & best', description: 'Since <Monday>' }),
  )
  const delivered = arrived[0]?.body.data
  const { id, identifier } = delivered.agent_session.issue
  const preview = (draft = {}) =>
    app.unchanged(async () => done(owner.post(`/teams/${team.id}/guidance-preview`, draft)))

  expect(await preview()).toEqual({
    guidance: delivered.guidance,
    prompt_context: delivered.prompt_context,
    example: { identifier, title: 'Newest & best' },
  })

  // Drafts replace the stored texts; texts that are left out are as stored.
  const drafted = await preview({ team_guidance: 'Ship <fast>.' })
  expect(drafted.guidance).toEqual([
    { origin: 'workspace', body: 'Be <kind>.' },
    { origin: 'team', team_id: team.id, body: 'Ship <fast>.' },
  ])
  expect(drafted.prompt_context).toBe(delivered.prompt_context.replace('Test first.', 'Ship &lt;fast&gt;.'))
  const bare = await preview({ workspace_guidance: ' ', team_guidance: '', repositories: [] })
  expect(bare.guidance).toEqual([])
  expect(bare.prompt_context).not.toMatch(/guidance|repository-hint/)
  const all = {
    workspace_guidance: 'A',
    team_guidance: 'B',
    repositories: [{ repository: 'x/y' }, { repository: 'z' }],
  }
  expect(readPromptContext((await preview(all)).prompt_context).hints).toEqual(['x/y', 'z'])

  // Once stored, they are in the context of the next delegation.
  await done(owner.patch('/workspaces/me', { guidance: 'A' }))
  await done(owner.patch(`/teams/${team.id}`, { guidance: 'B', repositories: all.repositories }))
  await say(member, { id }, 'Look here')
  await say(owner, { id }, 'Between us', { internal: true })
  const promised = await preview()
  expect(promised.prompt_context).toContain('Look here')
  expect(promised.prompt_context).not.toContain('Between us')
  expect(promised.prompt_context).toContain('>B<')
  await done(owner.put(`/issues/${id}`, { delegate_id: null }))
  const again = await receivedDuring(() =>
    done(owner.put(`/issues/${id}`, { delegate_id: delivered.agent_session.app_user_id })),
  )
  const created = again.find(({ body }) => body.action === 'created')?.body.data
  expect(promised).toMatchObject({ guidance: created.guidance, prompt_context: created.prompt_context })
})

test('a team without issues gets an example issue', async ({ app }) => {
  const { owner, admin } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Design', key: 'DES' })
  const { body: other } = await owner.post('/teams', { name: 'Other', key: 'OTH' })
  await owner.post('/issues', { title: 'Elsewhere', team_id: other.id })
  await owner.patch('/workspaces/me', { guidance: 'Be kind.' })
  const { status, body } = await app.unchanged(() =>
    admin.post(`/teams/${team.id}/guidance-preview`, { team_guidance: 'Draw.' }),
  )
  expect(status).toBe(200)
  expect(body).toMatchObject({
    example: null,
    guidance: [
      { origin: 'workspace', body: 'Be kind.' },
      { origin: 'team', team_id: team.id, body: 'Draw.' },
    ],
  })
  expect(body.prompt_context).toMatch(/^<issue identifier='DES-1'/)
  expect(body.prompt_context).not.toContain('Elsewhere')
})

test('managers can preview guidance up to its limit, for teams of their workspace', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Design', key: 'DES' })
  const path = `/teams/${team.id}/guidance-preview`
  const longest = 'x'.repeat(limits.guidance)
  const { body } = await owner.post(path, { team_guidance: longest, workspace_guidance: longest })
  expect(body.guidance).toHaveLength(2)
  const hints = (count: number) => Array.from({ length: count }, () => ({ repository: 'acme/web' }))
  expect((await owner.post(path, { repositories: hints(limits.repositoriesPerTeam) })).status).toBe(200)
  for (const draft of [
    { team_guidance: `${longest}x` },
    { workspace_guidance: `${longest}x` },
    { repositories: hints(limits.repositoriesPerTeam + 1) },
    { repositories: [{ repository: '' }] },
    { team_guidance: null },
    { guidance: 'x' },
  ]) {
    expect(await app.unchanged(() => owner.post(path, draft))).toMatchObject(invalid)
  }
  expect(await app.unchanged(() => member.post(path, {}))).toMatchObject(refusal(403, 'FORBIDDEN'))
  expect(await app.unchanged(() => stranger.post(path, {}))).toMatchObject(missing)
  const robot = await app.installed(owner)
  expect(await app.unchanged(() => robot.post(path, {}))).toMatchObject(refusal(403, 'SESSION_ONLY_ROUTE'))
})
