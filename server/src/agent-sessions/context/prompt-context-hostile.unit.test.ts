import { limits } from '@baton/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { readPromptContext } from '../../../test/prompt-context.ts'
import { type ContextSource, contextOf } from './prompt-context.ts'

type Comment = ContextSource['comments'][number]

const markup = ['<', '&', '>', "'", '"', ']]>', '</other-thread>', '<comment>', '&amp;', '&#0;', '<![CDATA[', '<!--']
const oddities = [
  '\0',
  '\b',
  '\x1f',
  '\x7f',
  '\r\n',
  '\r',
  '\t',
  ' ',
  '\ud800',
  '\udc00',
  '\ufffe',
  '\uffff',
  '…',
  '😀',
]
const piece = fc.oneof(fc.constantFrom(...markup, ...oddities), fc.string({ unit: 'binary', maxLength: 8 }))
const hostile = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
const upTo = (length: number) =>
  fc
    .tuple(hostile, fc.oneof(fc.constant(1), fc.nat(length), fc.constant(length)))
    .map(([text, times]) => text.repeat(times).slice(0, length))
const several = (text: fc.Arbitrary<string>, count: number) =>
  fc.oneof(
    fc.array(text, { maxLength: 4 }),
    fc
      .tuple(text, fc.oneof(fc.nat(count), fc.constant(count)))
      .map(([one, times]) => Array.from({ length: times }, () => one)),
  )

const names = several(upTo(limits.name), limits.idsInArray)
const teams = names.map((all) => all.map((name, n) => ({ id: `team_${n}`, key: `K${n}`, name })))
const common = { url: hostile, title: upTo(limits.title), description: upTo(limits.description), labels: names }
const issue = fc.record({
  ...{ kind: fc.constant('issue' as const), identifier: hostile, ...common },
  team: teams.map(([team]) => team ?? null),
  project: fc.option(upTo(limits.title)),
  parent: fc.option(fc.record({ identifier: hostile, title: upTo(limits.title) })),
})
const project = fc.record({ kind: fc.constant('project' as const), ...common, teams })
const comments = fc
  .array(
    fc.record({
      thread: fc.oneof(fc.nat(2), fc.nat(20)),
      body: upTo(limits.comment),
      author: fc.option(fc.record({ id: hostile, name: upTo(limits.name) })),
    }),
    { maxLength: 30 },
  )
  .map((all) =>
    all.map(({ thread, body, author }, n): Comment => {
      const rootId = `cmt_${all.findIndex((other) => other.thread === thread)}`
      return { id: `cmt_${n}`, rootId, body, author, createdAt: '2026-03-02T09:00:00.000Z' }
    }),
  )
const guidance = several(upTo(limits.guidance), 10).map((all) =>
  all.map((body, n) => ({ teamId: `team_${n}`, teamKey: `K${n}`, body })),
)
const repositories = several(upTo(limits.repository), limits.repositoriesPerTeam).map((all) =>
  all.map((repository) => ({ repository })),
)
const sources: fc.Arbitrary<ContextSource> = fc
  .record({
    subject: fc.oneof(issue, project),
    comments,
    trigger: fc.option(fc.nat()),
    workspaceGuidance: upTo(limits.guidance),
    teamGuidance: guidance,
    repositories,
  })
  .map(({ trigger, ...source }) => ({
    ...source,
    triggerId: trigger === null ? null : (source.comments[trigger % source.comments.length]?.id ?? null),
  }))

const allowed = (text: string) =>
  text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\ufffd')

/** The expected content if nothing were cut. */
function whole({ subject, comments, triggerId, ...source }: ContextSource) {
  const trigger = comments.find(({ id }) => id === triggerId)
  const until = trigger ? comments.slice(0, comments.indexOf(trigger) + 1) : comments
  const thread = (rootId: string) => until.filter((comment) => comment.rootId === rootId)
  const others = [...new Set(until.map(({ rootId }) => rootId))].filter((rootId) => rootId !== trigger?.rootId)
  const textsOf = (some: Comment[]) => some.map(({ body }) => allowed(body))
  const teams = subject.kind === 'project' ? subject.teams : subject.team ? [subject.team] : []
  const rules = [source.workspaceGuidance, ...source.teamGuidance.map(({ body }) => body)]
  return {
    kind: subject.kind,
    title: allowed(subject.title),
    description: allowed(subject.description),
    teams: teams.map(({ name }) => allowed(name)),
    labels: subject.labels.map(allowed),
    primary: trigger ? textsOf(thread(trigger.rootId)) : [],
    others,
    otherThreads: others.map((rootId) => textsOf(thread(rootId))),
    rules: rules.filter((body) => body.trim() !== '').map(allowed),
    hints: source.repositories.map(({ repository }) => allowed(repository)),
    primaryComments: trigger ? thread(trigger.rootId) : [],
    commentsOf: thread,
  }
}

type Whole = ReturnType<typeof whole>
type Kept = ReturnType<typeof readPromptContext>

const bytesOf = (text: string) => Buffer.byteLength(text)
const mark = '…'
const last = <T>(items: T[], count: number) => items.slice(items.length - count)

/** The texts that can be cut, each with its original. */
const texts = (is: Kept, was: Whole) => ({
  description: [is.description, was.description] as const,
  directive: [is.primary.at(-1) ?? '', was.primary.at(-1) ?? ''] as const,
  rules: was.rules.map((rule, n) => [is.rules[n] ?? '', rule] as const),
})
const isCut = ([kept, text]: readonly [string, string]) => kept !== text
/** Cut to the ellipsis alone, or not longer than it in the first place. */
const isGone = ([kept]: readonly [string, string]) => bytesOf(kept) <= bytesOf(mark)

/** The content is the original, with text missing only at the permitted end. */
function expectSame(is: Kept, was: Whole) {
  expect([is.kind, is.title]).toEqual([was.kind, was.title])
  for (const part of ['teams', 'labels', 'hints'] as const)
    expect(is[part]).toEqual(was[part].slice(0, is[part].length))
  expect(is.others).toEqual(last(was.others, is.others.length))
  expect(is.otherThreads).toEqual(last(was.otherThreads, is.others.length))
  expect(is.primary.slice(0, -1)).toEqual(last(was.primary, is.primary.length).slice(0, -1))
  expect(is.rules).toHaveLength(was.rules.length)
  const { description, directive, rules } = texts(is, was)
  for (const [kept, text] of [description, directive, ...rules].filter(isCut)) {
    expect(kept.endsWith(mark) && text.startsWith(kept.slice(0, -1))).toBe(true)
  }
}

/** Each cut was made only when the cuts before it were not enough. */
function expectOrder(is: Kept, was: Whole) {
  const { description, directive, rules } = texts(is, was)
  const lost = (part: 'teams' | 'labels' | 'hints' | 'primary') => is[part].length < was[part].length
  const lists = lost('hints') || lost('labels') || lost('teams')
  const guidance = rules.some(isCut)
  if (lost('teams')) expect(is.labels).toEqual([])
  if (lost('teams') || lost('labels')) expect(is.hints).toEqual([])
  if (isCut(directive)) expect(rules.every(isGone)).toBe(true)
  expect(rules.slice(0, Math.max(rules.findLastIndex(isCut), 0)).every(isGone)).toBe(true)
  if (lists || isCut(directive) || guidance) expect(is.primary.length).toBe(Math.min(was.primary.length, 1))
  if (isCut(directive) || guidance) expect(isGone(description)).toBe(true)
  if (lists || isCut(directive) || guidance || lost('primary') || isCut(description)) expect(is.others).toEqual([])
}

const inText = (text: string) => bytesOf(allowed(text).replace(/[&\r]/g, '12345').replace(/[<>]/g, '1234'))
const inAttribute = (text: string) =>
  inText(text.replace(/['"]/g, '123456').replace(/\t/g, '1234').replace(/\n/g, '12345'))
const commentBytes = ({ author, createdAt, body }: Comment) =>
  bytesOf(`\n<comment author='' created-at='${createdAt}'></comment>`) +
  inAttribute(author?.name ?? 'Unknown') +
  inText(body)

/** With the next thread, comment or character it would have been too long. */
function expectMinimal(is: Kept, was: Whole) {
  const { description, directive, rules } = texts(is, was)
  const room = limits.promptContextBytes - is.bytes
  if ([description, directive, ...rules].some((text) => isCut(text) && !isGone(text))) expect(room).toBeLessThan(5)
  const comment = was.primaryComments.at(-1 - is.primary.length)
  const guidance = isCut(directive) || rules.some(isCut)
  if (comment && !guidance && is.hints.length === was.hints.length) {
    const shrunk = isGone(description) ? 0 : inText(is.description) - bytesOf(mark)
    expect(commentBytes(comment)).toBeGreaterThan(room + shrunk)
  }
  const thread = was.others.at(-1 - is.others.length)
  if (thread && !comment && !guidance && !isCut(description) && is.hints.length === was.hints.length) {
    const tags = bytesOf(`\n<other-thread comment-id='${thread}'>\n</other-thread>`)
    const bytes = was.commentsOf(thread).map(commentBytes)
    expect(bytes.reduce((sum, each) => sum + each, tags)).toBeGreaterThan(room)
  }
}

test(
  'any text gives valid XML of at most 64 KB, cut in the specified order and no more than needed',
  verifies('context.prompt-context-is-xml', 'context.prompt-context-max-64kb', 'context.last-cuts'),
  () => {
    fc.assert(
      fc.property(sources, (source) => {
        const is = readPromptContext(contextOf(source).prompt_context)
        const was = whole(source)
        expect(is.bytes).toBeLessThanOrEqual(limits.promptContextBytes)
        expectSame(is, was)
        expectOrder(is, was)
        expectMinimal(is, was)
      }),
      // Limits the search for a smaller failing case.
      { numRuns: 200, interruptAfterTimeLimit: 30_000 },
    )
  },
)
