import { expect } from 'vitest'
import { done } from '../../../test/delegation.ts'
import { verifies } from '../../../test/harness.ts'
import { insideScene } from '../../../test/inside-agents.ts'
import { saysWith, modelTest as test } from '../../../test/model.ts'

const used = (prompt_tokens: unknown, completion_tokens: unknown) => ({ prompt_tokens, completion_tokens })

test(
  'a session has the tokens that the answers of the model reported, without a price no cost',
  verifies('usage.built-in'),
  async ({ app, model }) => {
    const { builtIn, scribe, createIssue, sessionOn, write } = await insideScene(app)
    for (const delegate_id of [builtIn, scribe.id]) {
      const issue = await createIssue({ delegate_id })
      // An empty answer is asked for again, and both are paid for.
      model.play(saysWith(used(1000, 20), ''), saysWith(used(1200, 30), 'Done.'))
      await app.work()
      const session = await sessionOn(issue)
      expect(session).toMatchObject({ state: 'complete' })
      const totals = { model: 'large-1', cost_micros: null, currency: null }
      expect(session.usage).toMatchObject({ ...totals, input_tokens: 2200, output_tokens: 50 })
      model.play(saysWith(used(1300, 40), 'And done.'))
      await done(write(session, 'Again, please.'))
      await app.work()
      expect((await sessionOn(issue)).usage).toMatchObject({ ...totals, input_tokens: 3500, output_tokens: 90 })
      // Reports that are no counts are ignored.
      model.play(saysWith(used(-5, 'many'), 'Done.'))
      await done(write(session, 'Once more.'))
      await app.work()
      expect((await sessionOn(issue)).usage).toMatchObject({ ...totals, input_tokens: 3500, output_tokens: 90 })
    }
  },
)

test('a price makes a cost in US dollars', verifies('usage.built-in'), async ({ startApp, model }) => {
  const app = await startApp({
    BATON_MODEL_URL: model.url,
    BATON_MODEL: 'large-1',
    BATON_MODEL_PRICE: '2.50,10',
    BATON_SESSION_RATE: '1000',
  })
  const { builtIn, createIssue, sessionOn, write } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn })
  model.play(saysWith(used(1000, 20), 'Done.'))
  await app.work()
  const session = await sessionOn(issue)
  expect(session.usage).toMatchObject({ cost_micros: 2700, currency: 'USD', input_tokens: 1000, output_tokens: 20 })
  model.play(saysWith(undefined, 'Done.'), saysWith(undefined, 'Done.'))
  await done(write(session, 'Again.'))
  await app.work()
  expect((await sessionOn(issue)).usage).toMatchObject({ cost_micros: 2700 })
  model.play(saysWith(used(1, 1), 'Done.'))
  await done(write(session, 'Again.'))
  await app.work()
  expect((await sessionOn(issue)).usage).toMatchObject({ cost_micros: 2713, input_tokens: 1001 })
})
