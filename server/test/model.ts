import { setTimeout as sleep } from 'node:timers/promises'
import { TestApp, test } from './harness.ts'
import { ModelServer } from './model-server.ts'

export * from './model-server.ts'

/** Runs agents until they finish, and advances the clock while they wait for a retry. */
export async function workThrough(app: TestApp) {
  let over = false
  const work = app.work().finally(() => {
    over = true
  })
  while (!over) {
    await sleep(5)
    if (app.clock.nextInMs <= 30_000) app.clock.advance({ milliseconds: app.clock.nextInMs })
  }
  await work
}

export const modelKey = 'sk-a-key-that-nobody-sees'

/** `app` is configured with `model`. */
export const modelTest = test.extend<{ model: ModelServer; app: TestApp }>({
  model: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const model = await ModelServer.start()
      await use(model)
      await model.stop()
    },
    { scope: 'file' },
  ],
  app: [
    async ({ model }, use) => {
      const app = await TestApp.start({
        BATON_MODEL_URL: `${model.url}/`,
        BATON_MODEL: 'large-1',
        BATON_MODEL_KEY: modelKey,
        // The test clock does not advance, so rate limits would never be restored.
        BATON_SESSION_RATE: '1000',
      })
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
})
