import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The tokens of one installation and its workspace. */
export interface InstallationTokens {
  installation_id: string
  workspace_id: string
  app_user_id: string
  access_token: string
  refresh_token: string
  scope: string
  /** Milliseconds since 1970; the access token is refused after this. */
  expires_at: number
}

/** Stores tokens by installation_id. */
export interface TokenStore {
  get(installationId: string): Promise<InstallationTokens | null>
  set(installationId: string, tokens: InstallationTokens): Promise<void>
  delete(installationId: string): Promise<void>
  /** The stored installation ids; `agent.listen` needs it if you do not name an installation. */
  list?(): Promise<string[]>
}

/** Tokens are lost when the process ends: for tests and a first try. */
export function memoryTokens(): TokenStore {
  const kept = new Map<string, InstallationTokens>()
  return {
    get: async (id) => kept.get(id) ?? null,
    set: async (id, tokens) => void kept.set(id, tokens),
    delete: async (id) => void kept.delete(id),
    list: async () => [...kept.keys()],
  }
}

/** One file for each installation in this directory, with mode 0600, replaced atomically. */
export function fileTokens(directory: string): TokenStore {
  const pathOf = (id: string) => {
    if (!/^\w+$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is not an installation id`)
    return join(directory, `${id}.json`)
  }
  return {
    async get(id) {
      const path = pathOf(id)
      const text = await readFile(path, 'utf8').catch((error) => {
        if (isMissing(error)) return null
        throw error
      })
      return text === null ? null : read(path, text)
    },
    async set(id, tokens) {
      const path = pathOf(id)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const unfinished = `${path}.${randomBytes(6).toString('hex')}`
      const file = await open(unfinished, 'wx', 0o600)
      try {
        await file.writeFile(JSON.stringify(tokens))
        // A refresh token lost in a power cut cannot be recovered.
        await file.sync()
        await file.close()
        await rename(unfinished, path)
      } catch (error) {
        await file.close().catch(() => {})
        await rm(unfinished, { force: true })
        throw error
      }
    },
    delete: (id) => rm(pathOf(id), { force: true }),
    async list() {
      const names = await readdir(directory).catch((error) => {
        if (isMissing(error)) return []
        throw error
      })
      return names.flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? [])
    },
  }
}

/** The error of JSON.parse is replaced, because it quotes the file, which contains secrets. */
function read(path: string, text: string): InstallationTokens {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path} is not valid JSON. Delete it and have a manager install the app again.`)
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/**
 * Adds the tokens of an installation from the app's page, as its "Copy as .env" writes them: INSTALLATION_ID,
 * WORKSPACE_ID, APP_USER_ID and REFRESH_TOKEN. They are used until `store` has tokens of the installation, which is from
 * the first refresh on.
 */
export function envTokens(store: TokenStore, env: Record<string, string | undefined> = process.env): TokenStore {
  const { INSTALLATION_ID, WORKSPACE_ID, APP_USER_ID, ACCESS_TOKEN = '', REFRESH_TOKEN } = env
  if (!INSTALLATION_ID || !WORKSPACE_ID || !APP_USER_ID || !REFRESH_TOKEN) return store
  const first: InstallationTokens = {
    installation_id: INSTALLATION_ID,
    workspace_id: WORKSPACE_ID,
    app_user_id: APP_USER_ID,
    access_token: ACCESS_TOKEN,
    refresh_token: REFRESH_TOKEN,
    scope: '',
    // Not in the environment, so they are refreshed at once.
    expires_at: 0,
  }
  return {
    ...store,
    get: async (id) => (await store.get(id)) ?? (id === INSTALLATION_ID ? first : null),
    list: async () => [...new Set([INSTALLATION_ID, ...((await store.list?.()) ?? [])])],
  }
}

/** Anything that stores strings by key, such as Redis or a table. */
export interface KeyValue {
  get(key: string): Promise<string | null | undefined>
  set(key: string, value: string): Promise<unknown>
  delete(key: string): Promise<unknown>
}

export function keyValueTokens(store: KeyValue, prefix = 'baton:tokens:'): TokenStore {
  return {
    async get(id) {
      const text = await store.get(prefix + id)
      return text ? JSON.parse(text) : null
    },
    async set(id, tokens) {
      await store.set(prefix + id, JSON.stringify(tokens))
    },
    async delete(id) {
      await store.delete(prefix + id)
    },
  }
}
