import { expect } from 'vitest'
import { testOf } from '../scene.ts'

const plan = (...statuses: string[]) => statuses.map((status) => ({ status }))

testOf('triage')(
  'triage asks, continues after a restart, classifies the issue, comments and stops',
  async ({ scene }) => {
    await scene.setUp()
    await scene.start()

    const conversation = await scene.delegate('The door squeaks')
    const [question] = await conversation.reaches('awaitingInput')
    expect(question).toMatchObject({
      content: { type: 'elicitation', body: 'What kind of issue is ENG-1?' },
      signal: 'select',
      signal_metadata: { options: [{ value: 'bug' }, { value: 'feature' }, { value: 'chore' }] },
    })
    expect((await conversation.session()).plan).toMatchObject(plan('inProgress', 'pending', 'pending'))

    await scene.stop()
    await scene.start()
    await conversation.prompt('A squeak')
    expect((await conversation.reaches('awaitingInput')).at(-1)).toMatchObject({
      content: { body: 'Please choose one of: bug, feature, chore.' },
    })

    const { id } = (await conversation.activities()).at(-1)
    await conversation.prompt('Something is broken', { in_reply_to: id, selected: ['bug'] })
    expect((await conversation.reaches('complete')).slice(-2)).toMatchObject([
      { content: { type: 'action', action: 'classify', parameter: 'ENG-1', result: 'bug, priority high' } },
      { content: { type: 'response', body: 'ENG-1 is now a bug with priority high.' } },
    ])
    expect((await conversation.session()).plan).toMatchObject(plan('completed', 'completed', 'completed'))
    expect(await scene.ada('GET', `/issues/${conversation.issueId}`)).toMatchObject({ type: 'bug', priority: 'high' })
    const comments = await scene.ada('GET', `/comments?target_type=issue&target_id=${conversation.issueId}`)
    expect(comments.data).toMatchObject([{ text: 'Classified as bug with priority high.' }])

    const other = await scene.delegate('Paint the door')
    await other.reaches('awaitingInput')
    await other.stop()
    expect((await other.reaches('complete')).at(-1)).toMatchObject({
      content: { type: 'response', body: 'Stopped. Changes made so far remain.' },
    })
  },
  120_000,
)
