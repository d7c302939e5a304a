import { expect } from 'vitest'
import { testOf } from '../scene.ts'

testOf('echo')(
  'echo answers a delegation, and whatever is said after it',
  async ({ scene }) => {
    await scene.setUp()
    await scene.start()

    const conversation = await scene.delegate('Mend the door')
    expect(await conversation.reaches('complete')).toMatchObject([
      { content: { type: 'thought', body: 'Listening to Ada.' } },
      { content: { type: 'response', body: 'You gave me ENG-1: Mend the door' } },
    ])

    await conversation.say('Thank you')
    expect((await conversation.reaches('complete')).slice(2)).toMatchObject([
      { content: { type: 'prompt', body: 'Thank you' } },
      { content: { type: 'response', body: 'You said: Thank you' } },
    ])
  },
  120_000,
)
