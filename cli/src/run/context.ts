import type { BatonClient, Clock } from '@baton/sdk'
import type { Child } from './child.ts'
import type { Journal } from './journal.ts'
import type { Settings } from './options.ts'
import type { Pace, Turns } from './pace.ts'
import type { Redactor } from './redact.ts'
import type { State } from './state.ts'
import type { ToolServer } from './tools.ts'

/** How a session's turn ended, for --once. */
export type Outcome = 'response' | 'error' | 'stopped' | 'unanswered'

/** What all sessions of a runner share. */
export interface RunnerContext {
  settings: Settings
  state: State
  journal: Journal
  clock: Clock
  client: BatonClient
  app: { name: string; userId: string }
  redactor: Redactor
  turns: Turns
  allCalls: Pace
  tools: ToolServer | null
  /** Ids of the people of --people. */
  people: ReadonlySet<string> | null
  /** The environment of agents. */
  env: Record<string, string | undefined>
  /** A line for people; secrets are replaced. */
  log(line: string): void
  /** Lines of ACP messages with --debug. */
  debug(sessionId: string, direction: 'in' | 'out', message: unknown): void
  /** A process of an agent was found. Resolves when it is written down. */
  processNoted(child: Child): Promise<void>
  turnEnded(sessionId: string, outcome: Outcome): void
}

const systemVariables = [
  ...['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'],
  // Programs on Windows do not start without these.
  ...(process.platform === 'win32'
    ? [
        'Path',
        'PATHEXT',
        'SystemRoot',
        'SystemDrive',
        'COMSPEC',
        'TEMP',
        'TMP',
        'USERPROFILE',
        'APPDATA',
        'LOCALAPPDATA',
        'ProgramFiles',
      ]
    : []),
]

/** The runner's environment without Baton's own variables and the app's secrets; with --clean-env only a few. */
export function agentEnvironment(
  env: Record<string, string | undefined>,
  { cleanEnv, env: names }: Pick<Settings, 'cleanEnv' | 'env'>,
  secrets: readonly string[],
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(
    ([name, value]) =>
      !/^BATON_/i.test(name) &&
      value !== undefined &&
      !secrets.some((secret) => value.includes(secret)) &&
      (!cleanEnv || systemVariables.includes(name) || names.includes(name)),
  )
  return Object.fromEntries(kept)
}
