import fc from 'fast-check'
import { command, commentOf, issueOf, mentions, person, pick, robot, team } from './command.ts'
import type { SessionModel } from './model.ts'
import type { ServiceDriver } from './service-driver.ts'
import type { Comment, Person, Robot, Team } from './types.ts'

// People and issues

export const create = command('create', fc.record({ team, delegate: fc.option(robot) }), (model, { team, delegate }) =>
  model.issues.length >= 8
    ? null
    : {
        model: () => model.createIssue(team, delegate),
        real: async (service) => {
          const delegate_id = delegate === null ? undefined : service.userId(delegate)
          const answer = await service.people.owner.post('/issues', {
            title: 'Task',
            team_id: service.teamId(team),
            delegate_id,
          })
          if (answer.status === 201) service.issues.push(answer.body.id)
          return answer
        },
      },
)

const change = (issue: number, who: Person, body: (service: ServiceDriver) => object) => (service: ServiceDriver) =>
  service.people[who].put(`/issues/${service.issues[issue]}`, body(service))

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
    // Rules for the assignee of a personal issue are not part of the model.
    const named = to === null || model.issues[issue]?.personal ? undefined : assignee
    return {
      model: () => model.delegate(who, issue, to, named),
      real: change(issue, who, (service) => ({
        delegate_id: to === null ? null : service.userId(to),
        ...(named && { assignee_id: service.userId(named) }),
      })),
    }
  },
)

export const assign = command('assign', fc.record({ at: pick, to: fc.option(person) }), (model, { at, to }) => {
  const issue = issueOf(model, at)
  if (model.issues[issue]?.personal) return null
  return {
    model: () => model.assign(issue, to),
    real: change(issue, 'owner', (service) => ({ assignee_id: to && service.userId(to) })),
  }
})

export const move = command('move', fc.record({ at: pick, team }), (model, { at, team }) => {
  const issue = issueOf(model, at)
  return {
    model: () => model.moveIssue(issue, { team, personal: false }),
    real: change(issue, 'owner', (service) => ({ team_id: service.teamId(team), personal: false })),
  }
})

/** Another shared issue remains for later commands. */
const isSpare = ({ issues }: SessionModel) => issues.filter(({ deleted, personal }) => !deleted && !personal).length > 1

export const makePersonal = command('makePersonal', fc.record({ at: pick }), (model, { at }) => {
  const issue = issueOf(model, at)
  if (!isSpare(model)) return null
  return {
    model: () => model.moveIssue(issue, { team: null, personal: true }),
    real: change(issue, 'owner', () => ({ personal: true })),
  }
})

export const remove = command('remove', fc.record({ at: pick }), (model, { at }) => {
  const issue = issueOf(model, at)
  if (!isSpare(model)) return null
  return {
    model: () => model.deleteIssue(issue),
    real: (service) => service.people.owner.delete(`/issues/${service.issues[issue]}`),
  }
})

// Comments

const texts = (service: ServiceDriver, robots: Robot[], first = 'Comment') =>
  [first, ...robots.map((robot) => `@[Robot](${service.userId(robot)})`)].join(' ')

const comment =
  (author: Person | Robot, issue: number, parent: number | null, robots: Robot[], internal: boolean) =>
  async (service: ServiceDriver) => {
    const answer = await service.clientOf(author).post('/comments', {
      target_type: 'issue',
      target_id: service.issues[issue],
      text: texts(service, robots),
      ...(parent !== null && { parent_comment_id: service.comments[parent] }),
      ...(internal && { internal }),
    })
    if (answer.status === 201) service.comments.push(answer.body.id)
    return answer
  }

const author = fc.oneof({ weight: 3, arbitrary: person }, { weight: 1, arbitrary: robot })

export const thread = command(
  'thread',
  fc.record({ at: pick, who: author, mentions, internal: fc.constantFrom(...Array(7).fill(false), true) }),
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
  fc.record({ at: pick, who: author, mentions }),
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
  // Unique, because an edit that changes nothing is no edit.
  const text = `Comment${++model.edits}`
  return {
    model: () => model.edit(id, mentions, text),
    real: (service) =>
      service.people[author].put(`/comments/${service.comments[id]}`, { text: texts(service, mentions, text) }),
  }
})

export const deleteComment = command('deleteComment', fc.record({ at: pick }), (model, { at }) => {
  const id = commentOf(model, at)
  if (id === null) return null
  return {
    model: () => model.deleteComment(id),
    real: (service) => service.people.owner.delete(`/comments/${service.comments[id]}`),
  }
})

// Administration

const coverages = [['A'], ['A', 'B'], ['A', 'B'], ['B'], 'all', 'all'] as (Team[] | 'all')[]
export const cover = command(
  'cover',
  fc.record({ robot, teams: fc.constantFrom(...coverages) }),
  (model, { robot, teams }) => ({
    model: () => model.setCoverage(robot, teams),
    real: (service) =>
      service.people.owner.patch(
        `/installations/${service.robots[robot]?.installationId}`,
        teams === 'all' ? { all_teams: true } : { team_ids: teams.map(service.teamId) },
      ),
  }),
)

export const uninstall = command('uninstall', fc.record({ robot }), (model, { robot }) => ({
  model: () => model.uninstall(robot),
  real: (service) => service.people.owner.delete(`/installations/${service.robots[robot]?.installationId}`),
}))

export const webhook = command('webhook', fc.record({ robot, enabled: fc.boolean() }), (model, { robot, enabled }) => ({
  model: () => model.setWebhook(robot, enabled),
  real: (service) =>
    service.people.owner.post(`/agent-apps/${service.robots[robot]?.app.id}/webhook/${enabled ? 'enable' : 'disable'}`),
}))
