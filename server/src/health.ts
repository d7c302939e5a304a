import { ConfigError, readConfig } from './config.ts'

/** Less than the three seconds that a container engine gives the command, which also has to start. */
const answerMs = 2000

/** Asks the service with these settings, on this machine, whether it is ready. Returns the exit code. */
export async function health(env: Record<string, string | undefined>): Promise<number> {
  try {
    const { host, port } = readConfig(env)
    const { status } = await fetch(`http://${reachable(host)}:${port}/readyz`, {
      signal: AbortSignal.timeout(answerMs),
    })
    if (status === 200) return 0
    console.error(`Not ready: /readyz answers ${status}`)
  } catch (error) {
    const { message, cause } = error as Error
    console.error(
      error instanceof ConfigError ? message : `Not ready: ${(cause as Error | undefined)?.message ?? message}`,
    )
  }
  return 1
}

/** An address that means all interfaces is reached by loopback. */
function reachable(host: string) {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
