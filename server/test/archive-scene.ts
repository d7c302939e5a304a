import { sql } from '../src/db/sql.ts'
import { newId } from '../src/ids.ts'
import { fileOn } from './archives.ts'
import type { TestApp, TestPerson } from './harness.ts'

/** A workspace with a row in every table that an archive has, and personal items and secrets beside them. */
export async function archiveScene(app: TestApp) {
  const workspace = await app.workspace('Acme')
  const { owner, member } = workspace
  const make = async (by: TestPerson, path: string, body: object) => {
    const { status, body: made } = await by.post(path, body)
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(made)}`)
    return made
  }
  const team = await make(owner, '/teams', { name: 'Engineering', key: 'ENG' })
  await owner.put(`/teams/${team.id}/members/${member.user.id}`)
  await owner.put(`/teams/${team.id}/git-automation`, { review_requested: 'qa' })
  const label = await make(owner, '/labels', { name: 'Door', color: '#1f6feb' })
  const cycle = await make(owner, '/cycles', { team_id: team.id, name: 'Week 1' })
  const initiative = await make(owner, '/initiatives', { name: 'Growth' })
  const project = await make(owner, '/projects', {
    title: 'New shop',
    description: `Led by @[x](${owner.user.id})`,
    team_ids: [team.id],
    label_ids: [label.id],
    member_ids: [member.user.id],
    initiative_id: initiative.id,
  })
  const milestone = await make(owner, '/milestones', { project_id: project.id, name: 'Alpha' })
  // The parent is the newer one, so that its id is greater than its child's.
  const child = await make(member, '/issues', { title: 'Oil the hinges', team_id: team.id, label_ids: [label.id] })
  const issue = await make(owner, '/issues', {
    title: 'Fix the door',
    description: `As in ${child.id}, of ${project.id}. Not iss_00000000000000000000000000.`,
    team_id: team.id,
    project_id: project.id,
    milestone_id: milestone.id,
    cycle_id: cycle.id,
    assignee_id: member.user.id,
    blocks_ids: [child.id],
  })
  await owner.put(`/issues/${child.id}`, { parent_id: issue.id, status: 'in_progress' })
  const copy = await make(owner, '/issues', { title: 'Fix the same door', team_id: team.id })
  await owner.put(`/issues/${copy.id}/duplicate-of`, { issue_id: issue.id })
  await owner.put(`/issues/${child.id}/watch`, { muted: true })
  const comment = await make(member, '/comments', {
    target_type: 'issue',
    target_id: issue.id,
    text: `See ${child.id}, @[x](${owner.user.id})`,
  })
  const reply = await make(owner, '/comments', {
    target_type: 'issue',
    target_id: issue.id,
    text: 'Yes',
    parent_comment_id: comment.id,
  })
  await make(owner, '/comments', { target_type: 'project', target_id: project.id, text: 'Soon' })
  await owner.put(`/comments/${comment.id}/reactions/heart`)
  const view = await make(owner, '/views', { name: 'Door', query: `label=${label.id}`, shared: true })
  const template = await make(owner, '/templates', { name: 'Bug', team_id: team.id, label_ids: [label.id] })
  const robot = await app.installed(owner, { scopes: ['read', 'write'], name: 'Robot' })
  const session = await make(robot as never, '/agent-sessions', { issue_id: issue.id })
  await robot.post(`/agent-sessions/${session.id}/activities`, {
    content: { type: 'thought', body: `Reading ${issue.id}` },
  })
  await robot.put(`/agent-sessions/${session.id}/changes`, {
    repository: 'acme/shop',
    remote_url: null,
    base: { ref: 'main', commit: 'a'.repeat(40) },
    head_commit: null,
    branch: 'oil',
    pushed: false,
    files_total: 1,
    additions: 1,
    deletions: 0,
    files: [{ path: 'a', old_path: null, status: 'modified', additions: 1, deletions: 0, patch: '+a', omitted: null }],
  })
  const now = app.clock.now()
  await app.ctx.db.run(sql`
    insert into reviews (id, workspace_id, session_id, issue_id, agent_id, reviewer_id, round, seq, state, decided_by,
      decided_at, reason, began_at, created_at)
    values (${newId('rev')}, ${workspace.id}, ${session.id}, ${issue.id}, ${robot.userId}, ${member.user.id}, 1, 1,
      'sent_back', ${owner.user.id}, ${now}, ${`Not as in ${child.id}`}, ${now}, ${now})`)
  const file = await fileOn(app, owner, { type: 'issue', id: issue.id }, Buffer.from('The key is under the mat.\n'))
  const answer = await fileOn(app, owner, { type: 'comment', id: comment.id }, Buffer.alloc(100_000, 'x'))
  await app.ctx.db.run(sql`
    insert into external_refs (workspace_id, source, kind, external_id, target_id, key, url, hash, imported_at,
      created_at)
    values (${workspace.id}, 'linear', 'issue', 'LIN-1', ${issue.id}, 'LIN-1', 'https://linear.example.com/LIN-1', 'hash',
      ${app.clock.now()}, ${app.clock.now()})`)

  const secret = 'Sealed surprise'
  const personal = await make(owner, '/issues', { title: secret, personal: true })
  await make(owner, '/projects', { title: secret, personal: true })
  await make(owner, '/views', { name: secret, query: 'status=todo' })
  await make(owner, '/comments', { target_type: 'issue', target_id: personal.id, text: secret })
  const personalFile = await fileOn(app, owner, { type: 'issue', id: personal.id }, Buffer.from(secret))
  const draft = await fileOn(app, owner, null, Buffer.from(secret))
  const token = await owner.post('/personal-tokens', { name: secret, scopes: ['read'] })
  const webhook = await make(owner, '/webhooks', {
    label: secret,
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  const items = {
    team,
    label,
    cycle,
    initiative,
    project,
    milestone,
    issue,
    child,
    copy,
    comment,
    reply,
    view,
    template,
  }
  return {
    ...workspace,
    ...items,
    session,
    robot,
    files: { file, answer, personalFile, draft },
    personal,
    secret,
    secrets: [secret, token.body.token, webhook.id, robot.token, owner.token, personal.id],
  }
}
