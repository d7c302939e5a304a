import fc from 'fast-check'
import { command, commentOf, inSession, issueOf, key, keyed, person, pick, pickIndex, robot, word } from './command.ts'
import type { ServiceDriver } from './service-driver.ts'
import { type Activity, type ActivityType, isOpen, type Robot, type Session } from './types.ts'

// Messages, Stop, activities, plan and links

export const write = inSession(
  'write',
  fc.record({ at: pick, who: person, word, key }),
  (model, session, index, { who, word, key }) => ({
    model: () => model.write(who, session, word, key),
    real: (service) =>
      service.people[who].post(
        `${service.session(index)}/activities`,
        { content: { type: 'prompt', body: word } },
        keyed(key),
      ),
  }),
)

const isQuestion = ({ signal }: Activity) => signal === 'select'

export const choose = command(
  'choose',
  fc.record({ at: pick, activity: pick, value: fc.constantFrom('main', 'next', 'next', 'other') }),
  (model, { at, activity, value }) => {
    const index = pickIndex(model.sessions, (session) => isOpen(session) && session.activities.some(isQuestion), at)
    const session = model.sessions[index ?? -1]
    const asked = session ? pickIndex(session.activities, isQuestion, activity) : null
    if (!session || asked === null) return null
    const valid = isQuestion(session.activities[asked] as Activity) && value !== 'other'
    return {
      model: () => model.write('owner', session, 'one', null, { valid }),
      real: (service) =>
        service.people.owner.post(`${service.session(index as number)}/activities`, {
          content: { type: 'prompt', body: 'one' },
          signal_metadata: { in_reply_to: service.activities.get(`${index} ${asked + 1}`), selected: [value] },
        }),
    }
  },
)

export const stop = inSession('stop', fc.record({ at: pick, who: person }), (model, session, index, { who }) => ({
  model: () => model.stop(who, session),
  real: (service) => service.people[who].post(`${service.session(index)}/stop`),
}))

export const stopByApp = inSession('stopByApp', fc.record({ at: pick }), (model, { robot }, index) => ({
  model: () =>
    model.robots[robot].installed
      ? { status: 403, code: 'SESSION_ONLY_ROUTE' }
      : { status: 401, code: 'INSTALLATION_REVOKED' },
  real: (service) => service.clientOf(robot).post(`${service.session(index)}/stop`),
}))

const activityType = fc.constantFrom<ActivityType>(
  ...(['thought', 'thought', 'thought', 'action', 'action', 'action'] as const),
  ...(['elicitation', 'elicitation', 'elicitation', 'elicitation', 'response', 'response', 'error', 'prompt'] as const),
)
const options = { signal: 'select', signal_metadata: { options: [{ value: 'main' }, { value: 'next' }] } }

/** Usually the app of the session. */
const poster = ({ robot }: Session, own: boolean): Robot => (own ? robot : robot === 0 ? 1 : 0)
const own = fc.constantFrom(...Array(9).fill(true), false)

const postPicks = fc.record({
  at: pick,
  own,
  type: activityType,
  ephemeral: fc.boolean(),
  word,
  key,
  select: fc.boolean(),
})
export const post = inSession(
  'post',
  postPicks,
  (model, session, index, { own, key, type, ephemeral, word, select }) => {
    const robot = poster(session, own)
    const passing = ephemeral && (type === 'thought' || type === 'action' || word === 'two')
    const asks = select && type === 'elicitation'
    return {
      model: () => model.postActivity(robot, session, { type, word, ephemeral: passing, select: asks }, key),
      real: sends(robot, index, { type, word, passing, asks }, key),
    }
  },
)

const sends =
  (
    robot: Robot,
    index: number,
    activity: { type: ActivityType; word: string; passing: boolean; asks: boolean },
    key: string | null,
  ) =>
  (service: ServiceDriver) =>
    service.clientOf(robot).post(
      `${service.session(index)}/activities`,
      {
        content:
          activity.type === 'action'
            ? { type: 'action', action: activity.word, parameter: '' }
            : { type: activity.type, body: activity.word },
        ...(activity.passing && { ephemeral: true }),
        ...(activity.asks && options),
      },
      keyed(key),
    )

/** Posts about as many activities as the rate limit allows. */
export const burst = inSession(
  'burst',
  fc.record({ at: pick, times: fc.integer({ min: 9, max: 12 }) }),
  (model, session, index, { times }) => ({
    times,
    model: () =>
      model.postActivity(
        session.robot,
        session,
        { type: 'thought', word: 'one', ephemeral: false, select: false },
        null,
      ),
    real: sends(session.robot, index, { type: 'thought', word: 'one', passing: false, asks: false }, null),
  }),
)

const url = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12).map((number) => `https://example.com/${number}`)
const links = fc.uniqueArray(fc.record({ label: word, url }), { maxLength: 8, selector: (link) => link.url })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })
const updatePicks = fc.record({
  at: pick,
  own,
  plan: maybe(fc.array(word, { maxLength: 3 })),
  urls: maybe(links),
  added: maybe(links),
  removed: maybe(fc.array(url, { maxLength: 3 })),
  both: fc.nat(9),
})
export const update = inSession(
  'update',
  updatePicks,
  (model, session, index, { own, plan, urls, added, removed, both }) => {
    const robot = poster(session, own)
    const whole = both > 4 || both === 0 ? urls : undefined
    const parts = both <= 4 ? { added, removed } : {}
    const change = { plan, urls: whole, ...parts }
    return {
      model: () => model.update(robot, session, change),
      real: (service) =>
        service.clientOf(robot).patch(service.session(index), {
          plan: plan?.map((content) => ({ content, status: 'pending' })),
          external_urls: whole,
          added_external_urls: parts.added,
          removed_external_urls: parts.removed,
        }),
    }
  },
)

export const openOnIssue = command('openOnIssue', fc.record({ at: pick, robot }), (model, { at, robot }) => {
  const issue = issueOf(model, at)
  return {
    model: () => model.openByApp(robot, { issue }),
    real: (service) => service.clientOf(robot).post('/agent-sessions', { issue_id: service.issues[issue] }),
  }
})

export const openInThread = command('openInThread', fc.record({ at: pick, robot }), (model, { at, robot }) => {
  const comment = commentOf(model, at)
  if (comment === null) return null
  return {
    model: () => model.openByApp(robot, { comment }),
    real: (service) => service.clientOf(robot).post('/agent-sessions', { comment_id: service.comments[comment] }),
  }
})
