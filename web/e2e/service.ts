import { rmSync } from 'node:fs'
import { ServiceProcess } from '../../server/test/service-process.ts'
import { copyOfTemplate } from './template.ts'

/** Settings of the service that a spec changes, by the names in docs/guides/running.md. */
export type Settings = Record<string, string>

/** Timeouts in seconds that are short enough for a browser test: `test.use({ settings: shortTimeouts })`. */
export const shortTimeouts: Settings = {
  BATON_UNRESPONSIVE_AFTER: '2',
  BATON_STALE_AFTER: '5',
  BATON_STOPPING_TIMEOUT: '5',
  BATON_RETRY_DELAYS: '1,1,1',
}

export interface Service {
  /** The address that the browser opens, and the service's own public URL. */
  url: string
  /** Its data directory. */
  dir: string
  /** The log output so far. */
  log(): string
}

/** Runs `work` with a service in its own process, on an empty embedded database or the demo. */
export async function withService(settings: Settings, work: (service: Service) => Promise<void>) {
  const dir = copyOfTemplate()
  try {
    const service = await ServiceProcess.start({
      BATON_DATA_DIR: dir,
      BATON_ROLE: 'all',
      // The agents and receivers of the tests listen on localhost.
      BATON_WEBHOOK_ALLOW: 'localhost',
      ...settings,
    })
    try {
      await work({ dir, url: service.url.replace('127.0.0.1', 'localhost'), log: () => service.output })
    } finally {
      await service.kill('SIGTERM')
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
