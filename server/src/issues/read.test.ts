import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue as make, issueScene as scene } from '../../test/issues.ts'
import { callTool } from '../../test/mcp.ts'

describe('reading issues', () => {
  test(
    'by id and by code',
    verifies('issue.get-by-id', 'issue.get-by-code', 'issue.team-issue-visible-to-all-members'),
    async ({ app }) => {
      const workspace = await scene(app)
      const issue = await make(workspace)
      expect((await workspace.member.get(`/issues/${issue.id}`)).body).toEqual(issue)
      expect((await workspace.member.get('/issues/ENG-1')).body).toEqual(issue)
      for (const key of ['ENG-2', 'eng-2', 'iss_00000000000000000000000000', '%20']) {
        expect((await workspace.member.get(`/issues/${key}`)).status).toBe(404)
      }
      const stranger = await scene(app)
      expect((await stranger.owner.get(`/issues/${issue.id}`)).status).toBe(404)
    },
  )

  test('by a code in any letter case, wherever a code is accepted', verifies('issue.get-by-code'), async ({ app }) => {
    const workspace = await scene(app)
    const { owner, team, other } = workspace
    const issue = await make(workspace)
    const robot = await app.installed(owner, { teamIds: [team.id] })
    for (const key of ['eng-1', 'Eng-1', 'eNG-1', 'ENG-1']) {
      expect((await owner.get(`/issues/${key}`)).body).toEqual(issue)
      expect((await robot.get(`/issues/${key}/history`)).status).toBe(200)
      expect((await robot.get(`/users/select?issue_id=${key}`)).status).toBe(200)
      expect((await callTool(robot, 'get_issue', { issue_id: key })).structuredContent.id).toBe(issue.id)
    }
    expect((await owner.get('/issues?query=eng-1')).body.data).toEqual([issue])
    expect((await owner.put('/issues/eng-1', { title: 'Renamed', team_id: other.id })).body.code).toBe('DES-1')
    for (const key of ['eng-1', 'des-1']) expect((await owner.get(`/issues/${key}`)).body.title).toBe('Renamed')
    // Out of reach now, whatever the letter case.
    for (const key of ['des-1', 'DES-1']) expect((await robot.get(`/issues/${key}`)).status).toBe(403)
    expect((await owner.delete('/issues/des-1')).status).toBe(204)
    expect((await owner.get('/issues/DES-1')).status).toBe(404)
    const teamless = (await owner.post('/issues', { title: 'No team' })).body
    expect((await owner.get('/issues/x-1')).body).toEqual(teamless)
  })

  test(
    'by each filter',
    verifies(
      'issue.filter-team',
      'issue.filter-project',
      'issue.filter-status',
      'issue.filter-assignee',
      'issue.filter-delegate',
      'issue.filter-label',
      'issue.filter-query',
    ),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, member, team, other } = workspace
      const project_id = (await owner.post('/projects', { title: 'Plan' })).body.id
      const label = (await owner.post('/labels', { name: 'Red' })).body.id
      const login = await make(workspace, { title: 'Login fails', status: 'todo', assignee_id: member.user.id })
      const colour = await make(workspace, {
        title: 'Colour',
        description: '100% wrong_shade',
        label_ids: [label],
        team_id: other.id,
      })
      const otherLabel = (await owner.post('/labels', { name: 'Blue' })).body.id
      const plan = await make(workspace, {
        title: 'Write the plan for logins',
        project_id,
        assignee_id: owner.user.id,
        label_ids: [otherLabel],
      })
      const idsFor = async (query: string) => {
        const { status, body } = await member.get(`/issues?${query}`)
        expect(status).toBe(200)
        return body.data.map((issue: { id: string }) => issue.id)
      }
      expect(await idsFor('')).toEqual([plan.id, colour.id, login.id])
      expect(await idsFor(`team_id=${team.id}`)).toEqual([plan.id, login.id])
      expect(await idsFor(`project_id=${project_id}`)).toEqual([plan.id])
      expect(await idsFor('status=todo')).toEqual([login.id])
      expect(await idsFor(`assignee_id=${member.user.id}`)).toEqual([login.id])
      expect(await idsFor(`delegate_id=${member.user.id}`)).toEqual([])
      expect(await idsFor(`label_id=${label}`)).toEqual([colour.id])
      expect(await idsFor('query=LOGIN')).toEqual([plan.id, login.id])
      expect(await idsFor('query=login+fails')).toEqual([login.id])
      expect(await idsFor('query=wrong_shade')).toEqual([colour.id])
      expect(await idsFor('query=100%25')).toEqual([colour.id])
      expect(await idsFor('query=w%25g')).toEqual([])
      expect(await idsFor(`query=${colour.code}`)).toEqual([colour.id])
      expect(await idsFor(`team_id=${team.id}&query=plan&limit=1`)).toEqual([plan.id])
      expect(await idsFor('team_id=team_nowhere')).toEqual([])
      expect((await member.get('/issues?status=lost')).status).toBe(422)
    },
  )

  test('by parent, priority and type', async ({ app }) => {
    const workspace = await scene(app)
    const { owner, member, team, other } = workspace
    const parent = await make(workspace, { title: 'Whole', priority: 'high', type: 'story' })
    const one = await make(workspace, { title: 'Part', parent_id: parent.id, priority: 'urgent', type: 'bug' })
    const two = await make(workspace, { title: 'Part', parent_id: parent.id, priority: 'urgent', team_id: other.id })
    const below = await make(workspace, { title: 'Part of a part', parent_id: one.id, type: 'bug' })
    const listOf = (client: Client) => async (query: string) => {
      const { status, body } = await client.get(`/issues?${query}`)
      expect(status).toBe(200)
      return body.data.map((issue: { id: string }) => issue.id)
    }
    const list = listOf(member)
    expect(await list(`parent_id=${parent.id}`)).toEqual([two.id, one.id])
    expect(await list(`parent_id=${one.id}`)).toEqual([below.id])
    expect(await list(`parent_id=${two.id}`)).toEqual([])
    expect(await list('priority=urgent')).toEqual([two.id, one.id])
    expect(await list('priority=high')).toEqual([parent.id])
    expect(await list('type=bug')).toEqual([below.id, one.id])
    expect(await list('type=story')).toEqual([parent.id])
    expect(await list(`parent_id=${parent.id}&priority=urgent&type=bug&status=${one.status}`)).toEqual([one.id])
    const { body: first } = await member.get(`/issues?parent_id=${parent.id}&limit=1`)
    expect(await list(`parent_id=${parent.id}&limit=1&cursor=${first.next_cursor}`)).toEqual([one.id])
    for (const query of ['priority=top', 'priority=', 'type=epic', 'parent_id=', `parent_id=${'x'.repeat(101)}`]) {
      expect((await member.get(`/issues?${query}`)).status, query).toBe(422)
    }

    const robot = await app.installed(owner, { teamIds: [team.id] })
    expect(await listOf(robot)(`parent_id=${parent.id}`)).toEqual([one.id])
    expect(await listOf(robot)('priority=urgent')).toEqual([one.id])
    const { owner: stranger } = await app.workspace()
    for (const query of [`parent_id=${parent.id}`, 'priority=urgent', 'type=bug']) {
      expect(await listOf(stranger)(query), query).toEqual([])
    }
  })
})
