import { readFileSync } from 'node:fs'
import { chmod, link, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileTokens, type InstallationTokens, type TokenStore } from '@baton/sdk'
import { Failure } from '../failure.ts'
import { readIfExists, writePrivate } from '../files.ts'
import { identify, isAlive, type ProcessId } from './processes.ts'

type Env = Record<string, string | undefined>

/** What the first start stored: the app and its secrets. */
export interface StoredApp {
  url: string
  app_id: string
  name: string
  client_id: string
  client_secret: string
  webhook_secret: string
  /** Set when the app is installed. */
  installation_id?: string
  app_user_id?: string
  installed_at?: string
}

/** What a runner has to know about a session after a restart. */
export interface SessionRecord {
  id: string
  /** In lower case, for names of branches; `project` without an issue. */
  identifier: string
  title: string
  creator: { id: string; name: string }
  issueId?: string
  projectId?: string
  teamId?: string
  teamKey?: string
  /** The directory of the repository that was chosen; with --no-git the directory itself. */
  repository?: string
  worktree?: string
  /** The worktree's directory in the repository; the worktree's own `.git` file can be changed by the agent. */
  gitDir?: string
  branch?: string
  base?: { ref: string | null; commit: string }
  setUp?: boolean
  acpSession?: string
  tokens?: { input: number; output: number }
  /** In millionths. `current` is that of the ACP session in use. */
  cost?: { earlier: number; current: number; currency: string }
  /** The commit that was pushed last. */
  pushed?: string
  linked?: boolean
  /** When the last turn ended. */
  turnEndedAt?: string
  /** The session takes no more messages. */
  endedAt?: string
}

export function stateRoot(env: Env = process.env, platform = process.platform): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'baton', 'run')
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'baton', 'run')
}

const fileName = (text: string) => text.replace(/[^\w.-]+/g, '-').replace(/^\.+/, '') || '-'

export const stateDirectory = (url: string, name: string) =>
  join(stateRoot(), fileName(new URL(url).host), fileName(name))

/** The URL of the only instance where an app of this name was enrolled here; null if there are none or several. */
export async function enrolledUrl(name: string): Promise<string | null> {
  const hosts = await readdir(stateRoot()).catch(() => [])
  const apps = await Promise.all(hosts.map((host) => new State(join(stateRoot(), host, fileName(name))).app()))
  const urls = new Set(apps.flatMap((app) => (app ? [app.url] : [])))
  return urls.size === 1 ? ([...urls][0] ?? null) : null
}

/** The runner's directory. Everything in it is for its owner only. */
export class State {
  readonly directory: string
  constructor(directory: string) {
    this.directory = resolve(directory)
  }

  at = (...names: string[]) => join(this.directory, ...names)
  worktree = (sessionId: string) => this.at('worktrees', sessionId.slice(-8))

  /** Called with all tokens that are read or stored. */
  onTokens: (tokens: InstallationTokens) => void = () => {}

  tokens(): TokenStore {
    const files = fileTokens(this.at('tokens'))
    const seen = (tokens: InstallationTokens | null) => {
      if (tokens) this.onTokens(tokens)
      return tokens
    }
    return {
      ...files,
      get: async (id) => seen(await files.get(id)),
      async set(id, tokens) {
        seen(tokens)
        await files.set(id, tokens)
      },
    }
  }

  async create() {
    for (const path of [
      this.directory,
      ...['tokens', 'sessions', 'worktrees', 'indexes'].map((name) => this.at(name)),
    ]) {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await chmod(path, 0o700)
    }
  }

  async app(): Promise<StoredApp | null> {
    return readJson<StoredApp>(this.at('app.json'))
  }

  saveApp = (app: StoredApp) => this.#write('app.json', app)

  async sessions(): Promise<SessionRecord[]> {
    const names = (await readdir(this.at('sessions')).catch(() => [])).filter((name) => name.endsWith('.json'))
    const records = await Promise.all(names.map((name) => readJson<SessionRecord>(this.at('sessions', name))))
    return records.filter((record) => record !== null)
  }

  session = (id: string) => readJson<SessionRecord>(this.at('sessions', `${fileName(id)}.json`))
  saveSession = (record: SessionRecord) => this.#write(join('sessions', `${fileName(record.id)}.json`), record)

  /** The context that the session began with; not in its record, because it is large and seldom needed. */
  context = async (id: string) => (await readIfExists(this.at('sessions', `${fileName(id)}.context.xml`))) ?? ''
  saveContext = (id: string, text: string) => writePrivate(this.at('sessions', `${fileName(id)}.context.xml`), text)

  /** Processes of agents, so that the next runner can end those that survived this one. */
  async processes(): Promise<ProcessId[]> {
    return (await readJson<ProcessId[]>(this.at('processes.json'))) ?? []
  }

  saveProcesses = (processes: ProcessId[]) => this.#write('processes.json', processes)

  #write = (name: string, value: unknown) => writePrivate(this.at(name), `${JSON.stringify(value, null, 1)}\n`)

  /** Makes this process the directory's runner. Returns a function that gives it up. */
  async lock(): Promise<() => Promise<void>> {
    const path = this.at('lock')
    const own = await identify(process.pid)
    const candidate = `${path}.${process.pid}`
    await writeFile(candidate, JSON.stringify({ pid: process.pid, born: own?.born ?? '' }), { mode: 0o600 })
    try {
      for (;;) {
        try {
          // Unlike a write, a link fails if there is a lock, and the lock is never incomplete.
          await link(candidate, path)
          return () => rm(path, { force: true })
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        }
        const holder = readLock(path)
        if (holder && (await isAlive(holder))) {
          throw new Failure(`Another runner (pid ${holder.pid}) uses ${this.directory}.`, {
            code: 'ALREADY_RUNNING',
            advice: 'End it first, or choose another directory with --state.',
          })
        }
        await rm(path, { force: true })
      }
    } finally {
      await rm(candidate, { force: true })
    }
  }
}

function readLock(path: string): ProcessId | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readIfExists(path)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure(`${path} is not valid JSON.`, { advice: 'Restore or delete it.' })
  }
}
