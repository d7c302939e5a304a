import fc from 'fast-check'
import { command, commentOf, issueOf, mentions, person, pick, robot, taken, team } from './command.ts'
import type { SessionModel } from './model.ts'
import type { Comment, Person, Robot, Team } from './things.ts'
import type { World } from './world.ts'

// People and issues

export const create = command('create', fc.record({ team, delegate: fc.option(robot) }), (model, { team, delegate }) =>
  model.issues.length >= 8
    ? null
    : {
        model: () => model.createIssue(team, delegate),
        real: async (world) => {
          const delegate_id = delegate === null ? undefined : world.userId(delegate)
          const answer = await world.people.owner.post('/issues', {
            title: 'Task',
            team_id: world.teamId(team),
            delegate_id,
          })
          if (answer.status === 201) world.issues.push(answer.body.id)
          return answer
        },
      },
)

const change = (issue: number, who: Person, body: (world: World) => object) => (world: World) =>
  world.people[who].put(`/issues/${world.issues[issue]}`, body(world))

export const delegate = command(
  'delegate',
  fc.record({
    at: pick,
    who: person,
    to: fc.option(robot, { freq: 2 }),
    assignee: fc.option(person, { nil: undefined, freq: 1 }),
  }),
  (model, { at, who, to, assignee }) => {
    const issue = issueOf(model, at)
    // Who may be the assignee of a personal issue is another matter.
    const named = to === null || model.issues[issue]?.personal ? undefined : assignee
    return {
      model: () => model.delegate(who, issue, to, named),
      real: change(issue, who, (world) => ({
        delegate_id: to === null ? null : world.userId(to),
        ...(named && { assignee_id: world.userId(named) }),
      })),
    }
  },
)

export const assign = command('assign', fc.record({ at: pick, to: fc.option(person) }), (model, { at, to }) => {
  const issue = issueOf(model, at)
  if (model.issues[issue]?.personal) return null
  return {
    model: () => model.assign(issue, to),
    real: change(issue, 'owner', (world) => ({ assignee_id: to && world.userId(to) })),
  }
})

export const move = command('move', fc.record({ at: pick, team }), (model, { at, team }) => {
  const issue = issueOf(model, at)
  return {
    model: () => model.place(issue, { team, personal: false }),
    real: change(issue, 'owner', (world) => ({ team_id: world.teamId(team), personal: false })),
  }
})

/** Something is left to go on with. */
const isSpare = ({ issues }: SessionModel) => issues.filter(({ gone, personal }) => !gone && !personal).length > 1

export const hide = command('hide', fc.record({ at: pick }), (model, { at }) => {
  const issue = issueOf(model, at)
  if (!isSpare(model)) return null
  return {
    model: () => model.place(issue, { team: null, personal: true }),
    real: change(issue, 'owner', () => ({ personal: true })),
  }
})

export const remove = command('remove', fc.record({ at: pick }), (model, { at }) => {
  const issue = issueOf(model, at)
  if (!isSpare(model)) return null
  return {
    model: () => model.deleteIssue(issue),
    real: (world) => world.people.owner.delete(`/issues/${world.issues[issue]}`),
  }
})

// Comments

const texts = (world: World, robots: Robot[], first = 'Comment') =>
  [first, ...robots.map((robot) => `@[Robot](${world.userId(robot)})`)].join(' ')

const comment =
  (author: Person | Robot, issue: number, parent: number | null, robots: Robot[], internal: boolean) =>
  async (world: World) => {
    const answer = await world.as(author).post('/comments', {
      target_type: 'issue',
      target_id: world.issues[issue],
      text: texts(world, robots),
      ...(parent !== null && { parent_comment_id: world.comments[parent] }),
      ...(internal && { internal }),
    })
    if (answer.status === 201) world.comments.push(answer.body.id)
    return answer
  }

const anybody = fc.oneof({ weight: 3, arbitrary: person }, { weight: 1, arbitrary: robot })

export const thread = command(
  'thread',
  fc.record({ at: pick, who: anybody, mentions, internal: fc.constantFrom(...Array(7).fill(false), true) }),
  (model, { at, who, mentions, internal }) => {
    const issue = issueOf(model, at)
    const hidden = internal && typeof who === 'string'
    return {
      model: () => model.comment(who, issue, null, mentions, hidden),
      real: comment(who, issue, null, mentions, hidden),
    }
  },
)

export const reply = command(
  'reply',
  fc.record({ at: pick, who: anybody, mentions }),
  (model, { at, who, mentions }) => {
    const parent = commentOf(model, at)
    if (parent === null) return null
    const { issue } = model.comments[parent] as Comment
    return {
      model: () => model.comment(who, issue, parent, mentions, false),
      real: comment(who, issue, parent, mentions, false),
    }
  },
)

export const edit = command('edit', fc.record({ at: pick, mentions }), (model, { at, mentions }) => {
  const id = commentOf(model, at)
  const author = id === null ? 0 : model.comments[id]?.author
  if (id === null || typeof author !== 'string') return null
  // Each text differs from the one before.
  const text = `Comment${taken.steps}`
  return {
    model: () => model.edit(id, mentions, text),
    real: (world) =>
      world.people[author].put(`/comments/${world.comments[id]}`, { text: texts(world, mentions, text) }),
  }
})

export const unsay = command('unsay', fc.record({ at: pick }), (model, { at }) => {
  const id = commentOf(model, at)
  if (id === null) return null
  return {
    model: () => model.deleteComment(id),
    real: (world) => world.people.owner.delete(`/comments/${world.comments[id]}`),
  }
})

// Administration

const coverages = [['A'], ['A', 'B'], ['A', 'B'], ['B'], 'all', 'all'] as (Team[] | 'all')[]
export const cover = command(
  'cover',
  fc.record({ robot, teams: fc.constantFrom(...coverages) }),
  (model, { robot, teams }) => ({
    model: () => model.cover(robot, teams),
    real: (world) =>
      world.people.owner.patch(
        `/installations/${world.robots[robot]?.installationId}`,
        teams === 'all' ? { all_teams: true } : { team_ids: teams.map(world.teamId) },
      ),
  }),
)

export const uninstall = command('uninstall', fc.record({ robot }), (model, { robot }) => ({
  model: () => model.uninstall(robot),
  real: (world) => world.people.owner.delete(`/installations/${world.robots[robot]?.installationId}`),
}))

export const webhook = command('webhook', fc.record({ robot, enabled: fc.boolean() }), (model, { robot, enabled }) => ({
  model: () => model.setWebhook(robot, enabled),
  real: (world) =>
    world.people.owner.post(`/agent-apps/${world.robots[robot]?.app.id}/webhook/${enabled ? 'enable' : 'disable'}`),
}))
