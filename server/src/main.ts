import { ConfigError, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { start } from './start.ts'

// A person at a terminal reads the lines below; a log collector gets one JSON line per request.
const log = createLog(process.stdout.isTTY ? 'warn' : 'info')

/** Requests have ten seconds of it. Whatever holds it up beyond that would be killed next, and loses nothing by it. */
const longestStopMs = 30_000

try {
  const config = readConfig(process.env)
  const running = await start(config, log, console.log)
  console.log(`Baton is ready at ${config.rootUrl}`)
  console.log(`The API is described at ${config.baseUrl}/openapi.json`)
  const { demo } = running
  if (demo) console.log(`Sign in to the demo as ${demo.email} with the password ${demo.password}`)

  let askedAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // npm passes on a signal that the whole group has had already; a person who insists takes longer.
      if (askedAt !== undefined) return Date.now() - askedAt > 2000 ? process.exit(1) : undefined
      askedAt = Date.now()
      console.log('Stopping …')
      setTimeout(() => process.exit(1), config.stopDelayMs + longestStopMs).unref()
      await running.stop()
      process.exit(0)
    })
  }
} catch (error) {
  if (error instanceof ConfigError) console.error(error.message)
  else console.error('Baton could not start:', error)
  process.exit(1)
}
