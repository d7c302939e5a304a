import { ConfigError, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { start } from './start.ts'

// At a terminal only warnings and the lines below; otherwise one JSON line per request for a log collector.
const log = createLog(process.stdout.isTTY ? 'warn' : 'info')

/** Of these, requests get 10 seconds. A stop that hangs is ended; nothing committed is lost by that. */
const maxStopMs = 30_000

try {
  const config = readConfig(process.env)
  const running = await start(config, log, console.log)
  console.log(`Baton is ready at ${config.rootUrl}`)
  console.log(`The API is described at ${config.baseUrl}/openapi.json`)
  const { demo } = running
  if (demo) console.log(`Sign in to the demo as ${demo.email} with the password ${demo.password}`)

  let stoppingSince: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // npm repeats the signal at once; a second Ctrl+C by the user comes later and ends the process.
      if (stoppingSince !== undefined) return Date.now() - stoppingSince > 2000 ? process.exit(1) : undefined
      stoppingSince = Date.now()
      console.log('Stopping …')
      setTimeout(() => process.exit(1), config.stopDelayMs + maxStopMs).unref()
      await running.stop()
      process.exit(0)
    })
  }
} catch (error) {
  if (error instanceof ConfigError) console.error(error.message)
  else console.error('Baton could not start:', error)
  process.exit(1)
}
