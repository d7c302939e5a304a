import { limits } from '@baton/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { readPromptContext } from '../../../test/prompt-context.ts'
import { type ContextSource, contextOf } from './prompt-context.ts'

const limit = limits.promptContextBytes
const bytesOf = (text: string) => Buffer.byteLength(text)
const promptContext = (source: ContextSource) => contextOf(source).prompt_context

function read(source: ContextSource) {
  const xml = promptContext(source)
  expect(bytesOf(xml)).toBeLessThanOrEqual(limit)
  return readPromptContext(xml)
}

const team = { id: 'team_eng', key: 'ENG', name: 'Engineering' }
const comment = (id: string, body: string, rootId = id) => ({
  id,
  rootId,
  body,
  author: { id: 'usr_ada', name: 'Ada' },
  createdAt: '2026-03-02T09:00:00.000Z',
})

/** An issue with this description and these comments; the last one is the trigger. */
const mention = (description: string, comments: ContextSource['comments']): ContextSource => ({
  subject: {
    kind: 'issue',
    identifier: 'ENG-12',
    url: 'https://baton.example/issues/ENG-12',
    title: 'Exports time out',
    description,
    team,
    labels: ['bug'],
    project: null,
    parent: null,
  },
  comments,
  triggerId: comments.at(-1)?.id ?? null,
  workspaceGuidance: 'Be brief.',
  teamGuidance: [{ teamId: team.id, teamKey: team.key, body: 'Write tests.' }],
  repositories: [{ repository: 'acme/web' }],
})

const filled = (source: (length: number) => ContextSource, bytes: number) =>
  source(1000 + bytes - bytesOf(promptContext(source(1000))))

describe('a prompt context that is too long', () => {
  const threads = [1, 2, 3].map((n) => comment(`cmt_${n}`, `${n}`.repeat(15_000)))
  const directive = comment('cmt_9', '@fixer please')

  test(
    'has up to 64 KB; one byte more removes only the oldest other thread',
    verifies('context.prompt-context-max-64kb', 'context.truncation-drops-oldest-threads-first'),
    () => {
      const source = (length: number) => mention('d'.repeat(length), [...threads, directive])
      const fits = filled(source, limit)
      expect(read(fits)).toMatchObject({ bytes: limit, others: ['cmt_1', 'cmt_2', 'cmt_3'] })

      const { length } = fits.subject.description
      const { others, description, primary, rules } = read(source(length + 1))
      expect(others).toEqual(['cmt_2', 'cmt_3'])
      expect(description).toHaveLength(length + 1)
      expect(primary).toEqual(['@fixer please'])
      expect(rules).toEqual(['Be brief.', 'Write tests.'])
      expect(read(source(length + 30_000)).others).toEqual(['cmt_3'])
      expect(read(source(length + 30_000)).description).toHaveLength(length + 30_000)
    },
  )

  test('loses an old thread before a newer one, even if it is small', () => {
    const comments = [comment('cmt_0', 'small'), ...threads, comment('cmt_4', '4'.repeat(20_000)), directive]
    expect(read(mention('', comments)).others).toEqual(['cmt_2', 'cmt_3', 'cmt_4'])
    const huge = Array.from({ length: 4 }, (_, n) => comment(`cmt_huge_${n}`, 'x'.repeat(20_000), 'cmt_0'))
    expect(read(mention('', [comment('cmt_0', ''), threads[0] ?? directive, ...huge, directive])).others).toEqual([
      'cmt_1',
    ])
  })

  test(
    'loses no more of the end of the description than needed, once no other thread is left',
    verifies('context.truncation-then-description'),
    () => {
      const source = (length: number) => mention('d'.repeat(length), [directive])
      const fits = filled(source, limit)
      expect(read(fits).description).toBe(fits.subject.description)
      const cut = read({ ...source(100_000), comments: [...threads, directive] })
      expect(cut).toMatchObject({ bytes: limit, others: [], primary: ['@fixer please'], labels: ['bug'] })
      expect(cut.rules).toEqual(['Be brief.', 'Write tests.'])
      expect(cut.description).toBe(`${'d'.repeat(fits.subject.description.length - 3)}…`)
    },
  )

  test.each(['&', '<', '\r', 'é', '…', '😀', 'a;&'])('is never cut inside a %j', (unit) => {
    for (let shift = 0; shift < 6; shift++) {
      const text = '-'.repeat(shift) + unit.repeat(40_000)
      const { bytes, description } = read(mention(text, [directive]))
      expect(bytes).toBeGreaterThan(limit - 5)
      expect(text.startsWith(description.slice(0, -1))).toBe(true)
      expect(description.at(-1)).toBe('…')
    }
  })

  const advised = (body: string): ContextSource => ({
    ...mention('Short.', [comment('cmt_0', 'Hello'), comment('cmt_9', body, 'cmt_0')]),
    workspaceGuidance: 'w'.repeat(10_000),
    teamGuidance: ['DES', 'ENG'].map((teamKey) => ({ teamId: '', teamKey, body: teamKey.repeat(3_000) })),
  })

  test('then loses the oldest comments of the primary thread', verifies('context.last-cuts'), () => {
    const bodies = [0, 1, 2, 3, 4].map((n) => `${n}`.repeat(20_000))
    const replies = bodies.map((body, n) => comment(`cmt_0${n}`, body, 'cmt_00'))
    const cut = read(mention('d'.repeat(100_000), [...threads, ...replies, comment('cmt_9', 'please', 'cmt_00')]))
    expect(cut.primary).toEqual([...bodies.slice(2), 'please'])
    expect(cut).toMatchObject({ bytes: limit, others: [], rules: ['Be brief.', 'Write tests.'] })
    expect(cut.description).toMatch(/^d+…$/)
  })

  test('then loses the end of the guidance, the workspace’s first', verifies('context.last-cuts'), () => {
    const enough = read(advised('&'.repeat(8_000)))
    expect(enough).toMatchObject({ bytes: limit, description: '…', primary: ['&'.repeat(8_000)] })
    expect(enough.rules).toEqual([expect.stringMatching(/^w+…$/), 'DES'.repeat(3_000), 'ENG'.repeat(3_000)])

    const more = read(advised('&'.repeat(12_000)))
    expect(more.rules).toEqual(['…', '…', expect.stringMatching(/^(ENG)+E?N?…$/)])
    expect(more).toMatchObject({ bytes: limit, primary: ['&'.repeat(12_000)], labels: ['bug'], hints: ['acme/web'] })
  })

  test('then loses the end of the triggering comment, then hints, labels and teams', () => {
    const directive = '&'.repeat(limits.comment)
    const cut = read(advised(directive))
    expect(cut).toMatchObject({ rules: ['…', '…', '…'], labels: ['bug'], hints: ['acme/web'], teams: ['Engineering'] })
    expect(cut.bytes).toBeGreaterThan(limit - 5)
    expect(cut.primary).toEqual([expect.stringMatching(/^&{12000,}…$/)])

    const names = Array.from({ length: limits.idsInArray }, () => '&'.repeat(limits.name))
    const { url, title } = advised('').subject
    const teams = names.map((name) => ({ ...team, name }))
    const subject = { kind: 'project' as const, url, title, description: 'd'.repeat(100_000), teams, labels: names }
    const crowded = read({ ...advised(directive), subject })
    expect(crowded).toMatchObject({ description: '…', rules: ['…', '…', '…'], hints: [], teams: names })
    expect(crowded.labels.length).toBeGreaterThan(0)
    expect(crowded.labels.length).toBeLessThan(100)
    expect(crowded.primary).toEqual([expect.stringMatching(/^&{3000,}…$/)])
    expect(crowded.bytes).toBeGreaterThan(limit - 5)
  })

  test('fits even with texts beyond the limits of the API', () => {
    const huge = '&'.repeat(200_000)
    const many = Array.from({ length: 500 }, () => huge.slice(0, 5_000))
    const subject = { ...advised('').subject, identifier: huge, url: huge, title: huge, project: huge, labels: many }
    const author = { id: '', name: huge }
    expect(
      read({
        subject: { ...subject, parent: { identifier: huge, title: huge } } as ContextSource['subject'],
        comments: [{ id: huge, rootId: huge, body: huge, author, createdAt: huge }],
        triggerId: huge,
        workspaceGuidance: huge,
        teamGuidance: many.map((teamKey) => ({ teamId: '', teamKey, body: huge.slice(0, 10) })),
        repositories: many.map((repository) => ({ repository })),
      }),
    ).toMatchObject({ primary: [expect.stringMatching(/^&{3000,}…$/)] })
  })

  test('does not shorten the arrays', () => {
    const { previous_comments, guidance } = contextOf({
      ...advised('&'.repeat(20_000)),
      comments: threads,
      triggerId: null,
    })
    expect(previous_comments.map(({ body }) => body.length)).toEqual([15_000, 15_000, 15_000])
    expect(guidance.map(({ body }) => body.length)).toEqual([10_000, 9_000, 9_000])
  })
})
