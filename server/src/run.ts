import { ConfigError, readConfig, unknownVariables } from './config.ts'
import { createLog } from './log.ts'
import { type Running, start } from './start.ts'
import { warningsOf } from './warnings.ts'

// At a terminal only warnings and the lines below; otherwise one JSON line per request for a log collector.
const log = createLog(process.stdout.isTTY ? 'warn' : 'info')

/** Of these, requests get 10 seconds. A stop that hangs is ended; nothing committed is lost by that. */
const maxStopMs = 30_000

let stoppingSince: number | undefined
/** Set before the start, which a stop waits for: the lock of the data directory is then released. */
let starting: Promise<Running> | undefined
/**
 * Done soon after the build failed, which the signal also ends. Creating a database can take longer; it is then left as
 * after a crash.
 */
let abandoned: Promise<undefined> | undefined
const abandonMs = 500

async function stop(signal: 'SIGTERM' | 'SIGINT', stopDelayMs: number) {
  if (stoppingSince !== undefined) {
    // npm repeats the signal at once; a second Ctrl+C by the user comes later and ends the process.
    if (signal === 'SIGINT' && Date.now() - stoppingSince > 2000) process.exit(1)
    return
  }
  stoppingSince = Date.now()
  console.log('Stopping …')
  setTimeout(() => process.exit(1), stopDelayMs + maxStopMs).unref()
  const running = await Promise.race([starting?.catch(() => undefined), abandoned])
  await running?.stop()
  process.exit(0)
}

/** Runs the service until a signal ends it. It is ready when `built` is done, which builds the web app. */
export async function run(built: Promise<unknown> = Promise.resolve()) {
  try {
    const config = readConfig(process.env)
    const unknown = unknownVariables(process.env)
    if (unknown.length > 0) {
      console.warn(`Unknown settings are ignored: ${unknown.join(', ')} (docs/guides/running.md lists all settings)`)
    }
    abandoned = new Promise((resolve) => {
      // It is awaited after the database was opened.
      built.catch(() => setTimeout(() => resolve(undefined), abandonMs))
    })
    starting = start(config, log, console.log, built)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal, config.stopDelayMs))
    const { demo, config: running } = await starting
    console.log(`Baton is ready at ${running.rootUrl}`)
    // The root URL may be the address of a proxy, which has to be told the port.
    if (config.port === 0) console.log(`It listens on port ${running.port} of ${running.host}`)
    for (const warning of warningsOf(running, process.env, process.versions.node)) console.warn(warning)
    console.log(`The API is described at ${running.baseUrl}/openapi.json`)
    if (demo) console.log(`Sign in to the demo as ${demo.email} with the password ${demo.password}`)
  } catch (error) {
    if (stoppingSince !== undefined) return
    if (error instanceof ConfigError || isFailedStep(error)) console.error(error.message)
    else console.error('Baton could not start:', error)
    process.exit(1)
  }
}

/** Of scripts/setup.mjs, which the bundle does not contain. */
const isFailedStep = (error: unknown): error is Error => error instanceof Error && error.name === 'StepFailed'
