import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testOf } from '../scene.ts'

testOf('echo')(
  'echo answers a delegation and the messages after it',
  async ({ scene }) => {
    await scene.setUp()
    await scene.start()

    const conversation = await scene.delegate('Mend the door')
    expect(await conversation.reaches('complete')).toMatchObject([
      { content: { type: 'thought', body: 'Listening to Ada.' } },
      { content: { type: 'response', body: 'You delegated ENG-1: Mend the door' } },
    ])

    await conversation.prompt('Thank you')
    expect((await conversation.reaches('complete')).slice(2)).toMatchObject([
      { content: { type: 'prompt', body: 'Thank you' } },
      { content: { type: 'response', body: 'You said: Thank you' } },
    ])
  },
  120_000,
)

testOf('echo')(
  'setup reports a failure in one line',
  async ({ scene }) => {
    expect(await scene.setUpFailure({ BATON_URL: 'http://127.0.0.1:1' })).toMatch(/^No service responds at .*\n$/)
    expect(await scene.setUpFailure({ BATON_PASSWORD: 'no' })).toMatch(/^ada-\S+ cannot sign in at .*\n$/)
    // As if the service was started without BATON_WEBHOOK_ALLOW.
    const manifest = join(scene.directory, 'manifest.json')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, text.replace('http://localhost:4000/', 'http://127.0.0.1:4000/'))
    expect(await scene.setUpFailure()).toMatch(
      /^The webhook URL http:\/\/127\.0\.0\.1:4000\/ must be .*BATON_WEBHOOK_ALLOW=localhost npm start.*\n$/,
    )
    expect((await scene.ada('GET', '/agent-apps')).data).toEqual([])
  },
  120_000,
)
