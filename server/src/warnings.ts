import { type Config, isLoopback } from './config.ts'
import { readableFiles } from './setting-files.ts'

/** What the operator should change although the service runs: one line each. */
export function warningsOf(
  config: Pick<Config, 'host' | 'rootUrl'>,
  env: Record<string, string | undefined>,
  nodeVersion: string,
): string[] {
  return [...endedNode(nodeVersion), ...exposedLoopback(config), ...readableFiles(env)].map(
    (line) => `Warning: ${line}`,
  )
}

const endedNode = (version: string) =>
  Number.parseInt(version, 10) === 20
    ? ['the Node 20 line ended in April 2026 and gets no security fixes; run Baton with Node 22, 24 or 26']
    : []

const exposedLoopback = ({ host, rootUrl }: Pick<Config, 'host' | 'rootUrl'>) =>
  !isLoopback(host.toLowerCase()) && isLoopback(new URL(rootUrl).hostname)
    ? [
        `HOST ${host} is reachable from other machines, where browsers cannot sign in until BATON_ROOT_URL is the https address that they open`,
      ]
    : []
